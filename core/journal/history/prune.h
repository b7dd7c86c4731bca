/* prune - removes the oldest steps, in parts: a step is measured, or goes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"
#include "core/journal/history/pruned_concurrent.h"
#include "core/journal/util/names.h"

struct journal;
struct journal_prune;

/*
 * All steps are measured, and then the oldest ones go, until the limits hold.
 * Life: pruning_begin() -> pruning_go_on() ... -> pruning_end(), also after an error. Between two
 * parts steps may be added, and no other pruning may begin.
 */
struct pruning {
	struct journal *j;
	struct journal_prune *e; /* borrowed: the limits, and how many went */
	struct names names;	 /* the kept steps at the beginning, oldest first */
	struct pruned_concurrent b;
	size_t phase, at; /* at: in names */
	size_t noted;	  /* steps that journal_pruned() counts already */
	bool *note;	  /* of each step; NULL: there are few enough, whatever they are */
	uint64_t *held;	  /* by each step; NULL: no limit */
	size_t counted;	  /* steps that journal.steps counts: notes are none */
	uint64_t total;	  /* bytes of the store, if they are limited */
	int64_t marked;
	int result; /* negative: a step stays for this reason, and all later ones */
};

int pruning_begin(struct pruning *p, struct journal *j, struct journal_prune *e) MUST_USE;
/* Does one part. Returns false after the last one. */
bool pruning_go_on(struct pruning *p);
void pruning_end(struct pruning *p);
