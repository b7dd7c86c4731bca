/* pruned_concurrent - logs of pruned steps that were concurrent with one that stays. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct journal;

#define BESIDE_DIR "beside"

/* What goes while the store is pruned. Life: beside_begin() -> ... -> beside_done(). */
struct beside {
	struct journal *j;
	char *const *steps; /* the kept ones, oldest first; borrowed */
	size_t n_steps;
	bool look_only;
	uint64_t *since; /* when the first began of the steps from each on, and of all others */
	struct beside_one *list;
	size_t n;
	bool dropped; /* something went */
};

int beside_begin(struct beside *b) MUST_USE;
/* The i-th step goes, which holds so many bytes, and with it what stayed for its sake. */
int beside_let_go(struct beside *b, size_t i, uint64_t held, uint64_t *ret_freed) MUST_USE;
/* The oldest of what has stayed. False: there is none. */
bool beside_drop_one(struct beside *b, uint64_t *ret_freed);
void beside_done(struct beside *b);
/* All of it, as nothing else is left to make room. False: there was none. */
bool beside_clear(struct journal *j);
