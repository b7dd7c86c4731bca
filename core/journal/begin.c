/* begin - begins a step, in one folder and in others. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"

static void note_begin(struct step *s)
{
	struct rec r;
	size_t start;

	if (s->made && undo_log_last(&s->side.log, undo_log_tail(&s->side.log), &r, &start))
		s->began_with = r.seq;
}

int journal_begin_part(struct journal *j, struct step *of, struct step **ret, struct err *err)
{
	int r = recover_unstick(j, err);

	if (r < 0)
		return r;
	*ret = step_new(j, of->id, of);
	(*ret)->spares = of->spares;
	r = step_keep_writers(*ret, err);
	note_begin(*ret);
	if (r < 0 && !(*ret)->made) /* else the part stays, at worst empty */
		step_drop(*ret);
	return r;
}

/* Captures files that still have a writer, and begins parts of the step in their other folders. */
static int begin_with_writers(struct step *s, struct err *err)
{
	int r = step_keep_writers(s, err);

	note_begin(s);
	for (struct journal *j = s->j->sibling; r == 0 && j != s->j; j = j->sibling) {
		struct step *part;

		if (j->writers)
			r = journal_begin_part(j, s, &part, err);
	}
	return r;
}

/* Levels the next numbers of all stores: if the step is interrupted, its rollback must be the
 * newest one, with the highest number, in each. */
static int level_numbers(struct journal *j)
{
	struct journal *k = j;
	int r;

	siblings_level(j);
	do
		r = store_seq_keep(k);
	while (r == 0 && (k = k->sibling) != j);
	return r;
}

int journal_begin(struct journal *j, enum step_kind kind, const char *command, struct step **ret,
		  struct err *err)
{
	uint64_t id = j->state->next_id;
	struct step *s;
	int r = recover_unstick(j, err);

	if (r < 0)
		return r;
	for (const struct journal *k = j->sibling; k != j; k = k->sibling)
		id = MAX(id, k->state->next_id);
	r = j->sibling == j ? 0 : level_numbers(j);
	if (r < 0)
		return err_set(err, r, "begin a step");
	s = step_new(j, (int64_t)id, NULL);
	s->kind = kind;
	s->began_us = clock_wall_us();
	s->command = xstrdup(command ? command : "");
	r = begin_with_writers(s, err);
	if (r < 0) {
		struct err ignored = {0};

		step_spare(s);
		if (journal_abort(s, &ignored) < 0)
			return err_wrap(err, r, "begin a step");
		return r;
	}
	*ret = s;
	return 0;
}
