/* calls_connect - performs connect() for every kind of socket. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"
#include "core/keeper/door.h"

struct parked;

HANDLER(prepare_connect);
HANDLER(perform_connect);
/* Handles the user's answer about a socket file, which is *opened. */
void connect_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict,
		      int *opened);
