/* calls_read - opens for reading, if every open is trapped. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"
#include "core/keeper/door.h"

struct parked;

HANDLER(prepare_read); /* DOOR_CONTINUE if the floor's answer is right */
HANDLER(perform_read);
/* Handles the user's answer, or the end of what held the request. */
void read_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict, int *opened);
/* Before a program is executed: if the floor will refuse it, tells the user why. */
void read_tell_exec(struct ldoor *d, struct request *r, int dirfd, const char *path);
