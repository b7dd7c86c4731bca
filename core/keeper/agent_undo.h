/* agent_undo - what the policy says about an undo or redo that the agent asks for. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

struct keeper;

/*
 * Judges every name that the plan would give or take as if the agent itself did it. 0: how many of
 * them a human has to be asked about, whose `why` is then the reason. -EACCES: one is denied.
 */
int agent_undo_judge(const struct keeper *k, struct undo_plan *plan, size_t *ret_asks,
		     struct err *err) MUST_USE;
/* The same just before it is performed, when no human was asked: 0, or -EACCES. */
int agent_undo_check(const struct keeper *k, enum undo_kind kind, size_t n, unsigned flags,
		     struct err *err) MUST_USE;
