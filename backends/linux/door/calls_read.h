/* calls_read - opens for reading, where every open is trapped. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"
#include "core/keeper/door.h"

struct parked;

HANDLER(prepare_read); /* DOOR_CONTINUE where the floor answers rightly */
HANDLER(perform_read);
/* The human has answered, or what held it is over. */
void read_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict, int *opened);
/* A program is about to be run: if the floor will refuse it, say why. */
void read_tell_exec(struct ldoor *d, struct request *r, int dirfd, const char *path);
