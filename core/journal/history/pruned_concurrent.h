/* pruned_concurrent - logs of pruned steps that were concurrent with one that stays. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct journal;

/* The state of one pruning. Life: pruned_concurrent_begin() -> ... -> pruned_concurrent_done(). */
struct pruned_concurrent {
	struct journal *j;
	char *const *steps; /* the kept steps, oldest first; borrowed */
	size_t n_steps;
	bool look_only;
	uint64_t *since; /* for each step, the earliest beginning of it and all later steps */
	size_t unread;	 /* so many of the oldest steps have none yet */
	struct pruned_log *list;
	size_t n;
	bool dropped; /* a log was removed */
};

int pruned_concurrent_begin(struct pruned_concurrent *b) MUST_USE;
/* Reads when one more step began; all others of this header read those that are left. Returns false
 * if none was left. */
bool pruned_concurrent_look(struct pruned_concurrent *b);
/* Removes the logs of steps that ended before all kept steps began. Returns their bytes. */
uint64_t pruned_concurrent_drop_alone(struct pruned_concurrent *b);
/* Removes the i-th step, which holds `held` bytes, and older logs that were kept only because of
 * it. Its log and images stay in beside/ if a remaining step was concurrent with it. *ret_freed:
 * bytes. */
int pruned_concurrent_let_go(struct pruned_concurrent *b, size_t i, uint64_t held,
			     uint64_t *ret_freed) MUST_USE;
/* Removes the oldest log in beside/. Returns false if there is none. */
bool pruned_concurrent_drop_one(struct pruned_concurrent *b, uint64_t *ret_freed);
void pruned_concurrent_done(struct pruned_concurrent *b);
/* Removes all logs in beside/, to make room at last. Returns false if there was none. */
bool pruned_concurrent_clear(struct journal *j);
