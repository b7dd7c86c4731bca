/* siblings - the journals of a session's folders, as a ring. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/journal/journal.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"

void siblings_join(struct journal *j, struct journal *first)
{
	struct journal *last = first;

	while (last->sibling != first)
		last = last->sibling;
	last->sibling = j;
	j->sibling = first;
}

void siblings_leave(struct journal *j)
{
	struct journal *before = j;

	while (before->sibling != j)
		before = before->sibling;
	before->sibling = j->sibling;
	j->sibling = j;
}

void journal_move_last(struct journal *j, struct journal *first)
{
	siblings_leave(j);
	siblings_join(j, first);
}

void siblings_level(struct journal *j)
{
	struct journal *k = j;
	uint64_t most = 0;

	do
		most = MAX(most, k->state->next_seq);
	while ((k = k->sibling) != j);
	do
		k->state->next_seq = most;
	while ((k = k->sibling) != j);
}

struct roll siblings_roll(struct journal *j)
{
	struct roll roll = {.us = (uint64_t)clock_wall_us()};
	struct journal *k = j;

	siblings_level(j);
	do
		roll.number = store_seq(k);
	while ((k = k->sibling) != j);
	return roll;
}

bool roll_same(const struct roll *a, const struct roll *b)
{
	return a->number == b->number && (a->us == b->us || !a->us || !b->us);
}
