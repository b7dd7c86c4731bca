/* model_steps - the steps of a model: of this session and of the history, undone ones, turns. */
/* SPDX-License-Identifier: MIT */
#include "core/session/model.h"

#include <stdlib.h>
#include <string.h>

#include "core/journal/history.h"

static void step_row_done(struct step_row *s)
{
	free(s->command);
	free(s->undone_in);
}

void model_steps_done(struct model *m)
{
	for (size_t i = 0; i < m->n_steps; i++)
		step_row_done(&m->steps[i]);
	free(m->steps);
}

/* Searches from the newest step, as an event is nearly always about one of the last. */
struct step_row *model_step(struct model *m, int64_t id)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].id == id)
			return &m->steps[i];
	return NULL;
}

bool step_row_is_note(const struct step_row *s)
{
	const size_t changed = s->created + s->modified + s->deleted + s->renamed;
	const char *deed = s->kind == STEP_AMBIENT ? step_deed(s->kind, s->command) : NULL;

	if (s->granted)
		return false;
	if (deed && str_starts(deed, "edit ~/") && (s->running || !changed))
		return true;
	return !s->running && step_is_note(s->kind, s->elsewhere, changed, s->command);
}

static bool is_note(const struct model *m, int64_t id)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].id == id)
			return step_row_is_note(&m->steps[i]);
	return false;
}

size_t model_drop_notes(const struct model *m, int64_t *ids, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_note(m, ids[i]))
			ids[kept++] = ids[i];
	return kept ? kept : n;
}

struct step_row *model_add_step(struct model *m, int64_t id, enum step_kind kind,
				const char *command, int64_t wall_us)
{
	struct step_row *s;

	if (m->n_steps == m->cap_steps) {
		m->cap_steps = m->cap_steps ? 2 * m->cap_steps : 64;
		m->steps = xrealloc(m->steps, m->cap_steps * sizeof(*m->steps));
	}
	s = &m->steps[m->n_steps++];
	*s = (struct step_row){
		.id = id,
		.kind = kind,
		.running = true,
		.began_us = wall_us,
		.command = xstrdup(command ? command : ""),
	};
	m->version++;
	return s;
}

static int by_number(const void *a, const void *b)
{
	long long x = llabs(((const struct step_row *)a)->id);
	long long y = llabs(((const struct step_row *)b)->id);

	return (x > y) - (x < y);
}

/* Sorts the steps by number, the oldest first. */
static void model_sort_steps(struct model *m)
{
	if (m->n_steps)
		qsort(m->steps, m->n_steps, sizeof(*m->steps), by_number);
}

const struct step_row *model_newest_restore(const struct model *m)
{
	const struct step_row *newest = NULL;

	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *row = &m->steps[i];

		if (row->kind == STEP_API && !row->undone && (!newest || row->id > newest->id))
			newest = row;
	}
	return newest;
}

void model_add_earlier(struct model *m, const struct step_info *list, size_t n, bool undone)
{
	for (size_t i = n; i-- > 0;) {
		const struct step_info *from = &list[i];
		struct step_row *s = model_step(m, from->id);

		if (s && s->earlier)
			s->undone &= undone; /* undone in one folder only */
		if (s)
			continue;
		s = model_add_step(m, from->id, from->kind, from->command, from->began_us);
		s->running = false;
		s->earlier = true;
		s->undone = undone;
		s->incomplete = from->incomplete;
		s->elsewhere = from->elsewhere;
		s->granted = from->granted;
		s->ended_us = from->ended_us;
		s->exit_status = from->exit_status;
		s->paths = from->created + from->modified + from->deleted + from->renamed;
	}
	model_set_counts(m, list, n);
	model_sort_steps(m);
}

void model_set_turns(struct model *m, struct turn_mark *list, size_t n)
{
	turn_marks_free(m->turns, m->n_turns);
	m->turns = list;
	m->n_turns = n;
	m->version++;
}

void model_remove_step(struct model *m, int64_t id)
{
	struct step_row *s = model_step(m, id);

	if (!s)
		return;
	step_row_done(s);
	memmove(s, s + 1, (size_t)(&m->steps[m->n_steps] - (s + 1)) * sizeof(*s));
	m->n_steps--;
	m->version++;
}

/* Removes steps of earlier sessions that are no longer in the history. */
static void drop_earlier(struct model *m, const struct step_info *redo, size_t n_redo,
			 const struct step_info *kept, size_t n_kept)
{
	for (size_t i = m->n_steps; i-- > 0;) {
		const struct step_row *s = &m->steps[i];

		if (s->earlier && !step_info_has(redo, n_redo, s->id) &&
		    !step_info_has(kept, n_kept, s->id))
			model_remove_step(m, s->id);
	}
}

void model_set_undone(struct model *m, const struct step_info *redo, size_t n_redo,
		      const struct step_info *kept, size_t n_kept)
{
	int64_t oldest = 0; /* the newest come first */

	if (n_kept)
		oldest = llabs(kept[n_kept - 1].id);
	drop_earlier(m, redo, n_redo, kept, n_kept);
	for (size_t i = 0; i < m->n_steps; i++) {
		struct step_row *s = &m->steps[i];
		bool again = step_info_has(redo, n_redo, s->id);

		s->undone = (s->undone || again) && !step_info_has(kept, n_kept, s->id);
		s->over = s->undone && !again;
		s->gone = !s->running && !s->undone && llabs(s->id) < oldest;
	}
	m->version++;
}

void model_set_undone_in(struct model *m, int64_t id, const char *folders)
{
	struct step_row *s = model_step(m, id);

	if (!s)
		return;
	free(s->undone_in);
	s->undone_in = folders ? xstrdup(folders) : NULL;
}

void model_set_counts(struct model *m, const struct step_info *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct step_row *row = model_step(m, list[i].id);

		if (!row || row->running)
			continue;
		row->created = list[i].created;
		row->modified = list[i].modified;
		row->deleted = list[i].deleted;
		row->renamed = list[i].renamed;
	}
}

void model_end_redo(struct model *m)
{
	for (size_t i = 0; i < m->n_steps; i++)
		m->steps[i].over = m->steps[i].undone;
	m->version++;
}

void model_set_edits(struct model *m, struct barrier *list, size_t n)
{
	barrier_free(m->edits, m->n_edits);
	m->edits = list;
	m->n_edits = n;
	m->version++;
}

size_t model_running(const struct model *m, const struct step_row **newest)
{
	size_t n = 0;

	if (newest)
		*newest = NULL;
	for (size_t i = 0; i < m->n_steps; i++) {
		if (!m->steps[i].running)
			continue;
		n++;
		if (newest)
			*newest = &m->steps[i];
	}
	return n;
}
