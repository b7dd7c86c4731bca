/* undo_plan - what `cordon undo` says before it does it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/* At most so many of its paths; the plan has those first that stop it. */
void print_plan(const struct undo_plan *p, size_t max);
/* What the merges of the plan would make of each file, as diffs from what is there now. */
int print_merges(struct journal *j, const struct undo_plan *p, struct err *err) MUST_USE;
