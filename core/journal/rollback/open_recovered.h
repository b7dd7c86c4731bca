/* open_recovered - opens a store and recovers the steps and rollbacks that a dead process left. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;
struct journal_spec;

/* Finds the journal of that folder. Returns 0 if it is one of j's session, or 1 if it was opened:
 * the caller closes it. */
int open_sibling(struct journal *j, const char *folder, struct journal **ret, struct err *err)
	MUST_USE;
