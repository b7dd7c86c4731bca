/* agent_undo - judges an undo or redo that the agent requests by the policy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

struct keeper;

/*
 * Judges every name that the plan would create or remove, as if the agent did so itself. Returns 0
 * and in *ret_asks the number of names about which the user must be asked, each with the reason in
 * `why`; -EACCES if one is denied.
 */
int agent_undo_judge(const struct keeper *k, struct undo_plan *plan, size_t *ret_asks,
		     struct err *err) MUST_USE;
/* Judges again just before it is performed, if the user was not asked: returns 0 or -EACCES. */
int agent_undo_check(const struct keeper *k, enum undo_kind kind, size_t n, unsigned flags,
		     struct err *err) MUST_USE;
