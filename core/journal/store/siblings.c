/* siblings - the journals of a session's other folders, and of others that a step has parts in. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"

void kin_join(struct journal *j, struct journal *first)
{
	struct journal *last = first;

	while (last->kin != first)
		last = last->kin;
	last->kin = j;
	j->kin = first;
}

void kin_leave(struct journal *j)
{
	struct journal *before = j;

	while (before->kin != j)
		before = before->kin;
	before->kin = j->kin;
	j->kin = j;
}

void journal_move_last(struct journal *j, struct journal *first)
{
	kin_leave(j);
	kin_join(j, first);
}

void kin_level(struct journal *j)
{
	struct journal *k = j;
	uint64_t most = 0;

	do
		most = MAX(most, k->state->next_seq);
	while ((k = k->kin) != j);
	do
		k->state->next_seq = most;
	while ((k = k->kin) != j);
}

struct roll kin_roll(struct journal *j)
{
	struct roll roll = {.us = (uint64_t)clock_wall_us()};
	struct journal *k = j;

	kin_level(j);
	do
		roll.number = store_seq(k);
	while ((k = k->kin) != j);
	return roll;
}

int kin_get(struct journal *j, const char *folder, bool recover, struct journal **ret,
	    struct err *err)
{
	struct journal_spec spec = {.folder = folder,
				    .state_dir = j->state_dir,
				    .read_only = j->read_only,
				    .with = j,
				    .guards = j->guards,
				    .guards_data = j->guards_data};
	struct journal *k = j;
	int r;

	do
		if (str_eq(k->folder, folder)) {
			*ret = k;
			return 0;
		}
	while ((k = k->kin) != j);
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
	while (j && j->kin != j)
		journal_close(j->kin);
	journal_close(j);
}
