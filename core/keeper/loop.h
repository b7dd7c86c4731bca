/* loop - the keeper's event loop: who is served first, timers, and when frames leave to cordon. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct inode_id;
struct keeper;

/* Something to be done at a time: next() says when (monotonic, 0: never), tick() looks and does. */
struct timer {
	int64_t (*next)(const struct keeper *k);
	void (*tick)(struct keeper *k);
};

/* What the loop calls. */
struct loop_ops {
	void (*started)(struct keeper *k); /* before the first turn */
	void (*serve)(struct keeper *k);   /* something has come from cordon: k->in */
	void (*exited)(struct keeper *k);  /* the agent has */
	void (*turned)(struct keeper *k);  /* at the end of a turn, before its frames leave */
	const struct timer *timers;
	size_t n_timers;
};

/* Of two times at which something is to be done; 0 is never. */
static inline int64_t sooner(int64_t a, int64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return MIN(a, b);
}
void keeper_loop(struct keeper *k, const struct loop_ops *ops);
/* Files of the folders have changed back: those inside may remember what they were. */
void doors_rolled_back(struct keeper *k, int64_t step);
/* Something outside the working folders is about to change (door_ops.changing()). */
void doors_changing(struct keeper *k, const struct inode_id *list, size_t n, bool moved);
void doors_unwatch(struct keeper *k); /* they are about to be closed */
