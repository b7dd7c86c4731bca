/* loop - the keeper's event loop: the order of sources, timers, and when frames go to cordon. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct inode_id;
struct keeper;

/* A deferred task. next() returns its time (monotonic, 0: never); tick() runs it when it is due. */
struct timer {
	int64_t (*next)(const struct keeper *k);
	void (*tick)(struct keeper *k);
};

/* The functions that the loop calls. */
struct loop_ops {
	void (*started)(struct keeper *k); /* before the first turn */
	void (*serve)(struct keeper *k);   /* k->in has frames of cordon */
	void (*exited)(struct keeper *k);  /* the agent has ended */
	void (*turned)(struct keeper *k);  /* at the end of a turn, before its frames are sent */
	const struct timer *timers;
	size_t n_timers;
};

/* Returns the earlier of two times; 0 is never. */
static inline int64_t sooner(int64_t a, int64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return MIN(a, b);
}
void keeper_loop(struct keeper *k, const struct loop_ops *ops);
/* Tells the doors that a rollback changed files, so caches of processes inside may be stale. */
void doors_rolled_back(struct keeper *k, int64_t step);
/* Hides a file from the processes inside (door_ops.cover()). path is absolute. */
void doors_cover(struct keeper *k, const char *path);
/* Tells the doors that files outside the working folders are about to change
 * (door_ops.changing()). */
void doors_changing(struct keeper *k, const struct inode_id *list, size_t n, bool moved);
void doors_unwatch(struct keeper *k); /* called before the doors are closed */
