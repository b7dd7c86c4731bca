/* session_limits - applies journal.steps and journal.size: for a session beside it, in parts. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/util.h"

struct journal;

/* Removes steps until the store is within its limits, or notes that it is full. */
int prune_to_fit(struct journal *j) MUST_USE;
/* Begins a session: journal_prune_on() applies the limits to the steps that there are, and no later
 * step is removed. settled: nor are those. */
int prune_begin_session(struct journal *j, bool settled) MUST_USE;
/* Ends what journal_prune_on() does; the next session begins anew. */
void prune_stop(struct journal *j);
/* prune_to_fit() after that step has ended. */
int prune_after_step(struct journal *j, int64_t id) MUST_USE;
/* Prunes a step for a rollback (struct store_hooks). */
bool prune_for_rollback(struct journal *j);
