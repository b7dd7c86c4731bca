/* undo_plan - prints the plan of `cordon undo` before it is carried out. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/* Prints at most max paths; conflicts come first. */
void print_plan(const struct undo_plan *p, size_t max);
/* Prints the results of the plan's merges as diffs from the current files. */
int print_merges(struct journal *j, const struct undo_plan *p, struct err *err) MUST_USE;
