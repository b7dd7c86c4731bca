/* listeners - the filters whose trapped calls the door serves: the agent's, and more beside it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ldoor;

/*
 * A program that is started beside the agent has a filter of its own, hence a listener of its own.
 * A request's number is the kernel's, which begins to count at a random one of 64 bits for each
 * filter, so the number alone tells the listener: it is looked for, the one that has called last
 * first.
 */

/* ioctl(2) on the listener that has the request that arg names. Its result, or negative errno;
 * -ENOENT: none has it, its caller is gone. */
int listener_ioctl(const struct ldoor *d, unsigned long op, void *arg);
/* Does the caller of this request still wait? */
bool listener_holds(const struct ldoor *d, uint64_t id);
/* Takes fd over, also on failure. 0, or -EUSERS: there are too many. */
int listener_add(struct ldoor *d, int fd);
void listener_remove(struct ldoor *d, int fd); /* closes it */
