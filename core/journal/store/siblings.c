/* siblings - the journals of a session's other folders, and of others that a step has parts in. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
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

int siblings_get(struct journal *j, const char *folder, bool recover, struct journal **ret,
		 struct err *err)
{
	struct journal_spec spec = {.folder = folder,
				    .state_dir = j->state_dir,
				    .read_only = j->read_only,
				    .with = j,
				    .guards = j->guards,
				    .saves = j->saves,
				    .guards_data = j->guards_data};
	struct journal *k = j;
	int r;

	do
		if (str_eq(k->folder, folder)) {
			*ret = k;
			return 0;
		}
	while ((k = k->sibling) != j);
	r = store_open(ret, &spec, recover, NULL, err);
	return r < 0 ? r : 1;
}

/* ---- for reading ------------------------------------------------------------------------------
 */

int journal_open_all(struct journal **ret, const char *const *folders, const char *state_dir,
		     struct err *err)
{
	struct journal *first = NULL, *j;
	int r = 0;

	for (size_t i = 0; (r == 0 || r == -ENOENT) && folders[i]; i++) {
		r = journal_open(&j,
				 &(struct journal_spec){.folder = folders[i],
							.state_dir = state_dir,
							.read_only = true,
							.with = first},
				 NULL, err);
		if (r == 0 && !first)
			first = j;
	}
	if (r < 0 && (r != -ENOENT || !first)) {
		journal_close_all(first);
		return r;
	}
	if (err)
		*err = (struct err){0};
	*ret = first;
	return 0;
}

void journal_close_all(struct journal *j)
{
	while (j && j->sibling != j)
		journal_close(j->sibling);
	journal_close(j);
}
