/* step_summary - the summary file of a committed step: its information and net changes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history.h"

struct journal;
struct nets;
struct object;

struct summary {
	struct step_info info;
	bool partial; /* of a step whose recovery was interrupted: changes may be missing */
	struct change *changes;
	size_t n;
};

int summary_write(struct journal *j, int stepdir, const struct step_info *info, bool partial,
		  const struct nets *nets) MUST_USE;
/* Reads the sequence number at which the summary was written: the end of the step. */
int summary_seq(int stepdir, uint64_t *ret) MUST_USE;
int summary_load(int stepdir, bool with_changes, struct summary *ret) MUST_USE;
/* Calls fn (or NULL) for each change, which is borrowed, instead of loading them. */
int summary_read(int stepdir, struct summary *ret,
		 void (*fn)(void *data, const struct summary *s, const struct change *c),
		 void *data) MUST_USE;
void summary_done(struct summary *s);
#define AUTO_SUMMARY CLEANUP(summary_done)
