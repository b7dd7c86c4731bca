/* undo_plan - what `cordon undo` says before it does it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

void print_plan(const struct undo_plan *p);
/* What the merges of the plan would make of each file, as diffs from what is there now. */
int print_merges(struct journal *j, const struct undo_plan *p, struct err *err) MUST_USE;
