/* siblings - the journals of a session's folders, as a ring. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct journal;

/*
 * Identifies a rollback: a number of the store, and a time (wall clock, microseconds; 0: unknown).
 * The time is when the rollback was made or, for a dead process's, when its session began. Several
 * stores use the same roll for one rollback; its number alone may be another rollback's there.
 */
struct roll {
	uint64_t number, us;
};
bool roll_same(const struct roll *a, const struct roll *b);

void siblings_join(struct journal *j, struct journal *first); /* as the last of first's ring */
void siblings_leave(struct journal *j);
/* Raises all their next sequence numbers to the highest: the next record is the newest in each. */
void siblings_level(struct journal *j);
/* Returns a new roll, whose number is higher than all given so far, in each of the journals. */
struct roll siblings_roll(struct journal *j);
