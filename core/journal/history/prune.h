/* prune - removes the oldest steps, by the limits of the store or on request. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/util.h"

struct journal;

/* Removes steps until the store is within its limits, or notes that it is full. */
int prune_to_fit(struct journal *j) MUST_USE;
int prune_to_fit_later(struct journal *j) MUST_USE; /* leaves steps in trash/ */
/* Stops pruning by the limits from now on: a session begins. */
void prune_hold(struct journal *j);
/* Does prune_to_fit() after that step has ended. */
int prune_after_step(struct journal *j, int64_t id) MUST_USE;
/* Prunes a step for a rollback (struct store_hooks). */
bool prune_for_rollback(struct journal *j);
