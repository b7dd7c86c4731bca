/* calls_shared - connect, bind and listen if the agent shares the host's network. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(perform_listen);
/* Connects an IPv4 or IPv6 socket to the address in SLOT_EXTRA. Returns the caller's result. */
int shared_connect(struct ldoor *d, struct request *r, int sock);
int shared_bind(struct ldoor *d, struct request *r);
void shared_close(struct ldoor *d);
