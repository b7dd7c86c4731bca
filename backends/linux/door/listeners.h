/* listeners - the filters whose trapped calls the door serves: the agent's, and more beside it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ldoor;

/*
 * A program that is started beside the agent has a filter of its own, hence a listener of its own.
 * The kernel numbers the requests of each filter from a random 64-bit number on. So the number
 * alone identifies the listener: all are tried, the one of the last request first.
 */

/* Calls ioctl(2) on the listener that has the request in arg. Returns its result or a negative
 * errno; -ENOENT: no listener has the request, because its caller has ended. */
int listener_ioctl(const struct ldoor *d, unsigned long op, void *arg);
/* Returns whether the caller of this request still waits. */
bool listener_holds(const struct ldoor *d, uint64_t id);
/* Takes fd, also on failure. Returns 0, or -EUSERS if there are too many. */
int listener_add(struct ldoor *d, int fd);
void listener_remove(struct ldoor *d, int fd); /* closes it */
