/* history - what the store says of this session's steps, and of edits between them. */
/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"
#include "core/session/session_priv.h"

struct journal *session_journal(struct session *s)
{
	struct err err = {0};

	if (s->journal || s->journal_tried)
		return s->journal;
	s->journal_tried = true;
	if (journal_open_all(&s->journal, (const char *const *)s->folders, s->state_dir, &err) < 0)
		log_warn("session", "history cannot be read: %s", err.text);
	return s->journal;
}

/* Steps of earlier sessions, once: what was there when somebody first looked. */
static void load_earlier(struct session *s)
{
	struct journal *j = session_journal(s);
	struct step_info *redo = NULL, *kept = NULL;
	size_t n_redo = 0, n_kept = 0;

	if (s->earlier_loaded || !j)
		return;
	s->earlier_loaded = true;
	if (journal_list(j, true, &redo, &n_redo, NULL) == 0)
		model_add_earlier(&s->model, redo, n_redo, true);
	if (journal_list(j, false, &kept, &n_kept, NULL) == 0)
		model_add_earlier(&s->model, kept, n_kept, false);
	step_info_free(redo, n_redo);
	step_info_free(kept, n_kept);
	s->edits_stale = s->turns_stale = true;
}

static void reload_turns(struct session *s)
{
	struct journal *j = s->turns_stale ? session_journal(s) : NULL;
	struct turn_mark *list = NULL;
	size_t n = 0;

	s->turns_stale = false;
	if (j && journal_turns(j, &list, &n, NULL) == 0)
		model_set_turns(&s->model, list, n);
}

/* A restore is a step that no command made. */
static void add_restored(struct session *s, const struct step_info *list, size_t n)
{
	struct step_row *row;

	if (n == 0 || list[0].kind != STEP_API || model_step(&s->model, list[0].id))
		return;
	row = model_add_step(&s->model, list[0].id, STEP_API, list[0].command, list[0].began_us);
	row->running = false;
	row->ended_us = list[0].ended_us;
	row->paths = list[0].created + list[0].modified + list[0].deleted + list[0].renamed;
}

void session_reload_undone(struct session *s)
{
	struct journal *j = session_journal(s);
	struct step_info *redo = NULL, *kept = NULL;
	size_t n_redo = 0, n_kept = 0;

	s->steps_stale = false;
	if (!j || journal_list(j, true, &redo, &n_redo, NULL) < 0)
		return;
	if (journal_list(j, false, &kept, &n_kept, NULL) == 0) {
		model_set_undone(&s->model, redo, n_redo, kept, n_kept);
		add_restored(s, kept, n_kept);
		model_set_counts(&s->model, kept, n_kept);
		step_info_free(kept, n_kept);
	}
	step_info_free(redo, n_redo);
	s->edits_stale = true;
	s->model.version++;
}

/* ---- what an undo did, in words ---------------------------------------------------------------
 */

#define STEPS_NAMED 8

struct undone { /* before it */
	int64_t *ids;
	size_t n;
};

static struct undone undone_now(const struct model *m)
{
	struct undone u = {.ids = xcalloc(m->n_steps + 1, sizeof(*u.ids))};

	for (size_t i = 0; i < m->n_steps; i++)
		if (m->steps[i].undone)
			u.ids[u.n++] = m->steps[i].id;
	return u;
}

static bool was_undone(const struct undone *u, int64_t id)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->ids[i] == id)
			return true;
	return false;
}

char *session_undo_words(struct session *s, const char *verb)
{
	struct undone before = undone_now(&s->model);
	AUTO_BUF struct buf ids = BUF_INIT;
	const struct step_row *one = NULL;
	size_t n = 0, n_before = s->model.n_steps;
	char *words;

	session_reload_undone(s);
	for (size_t i = 0; i < s->model.n_steps; i++) {
		const struct step_row *row = &s->model.steps[i];

		if (row->undone == was_undone(&before, row->id))
			continue;
		one = row;
		if (n++ < STEPS_NAMED)
			buf_fmt(&ids, "%s%lld", ids.len ? ", " : "", (long long)row->id);
	}
	if (s->model.n_steps > n_before) /* a restore is a step of its own */
		one = &s->model.steps[s->model.n_steps - 1];
	if (n == 0 && one)
		words = xasprintf("%s, as step %lld: %s", verb, (long long)one->id,
				  one->command ? one->command : "");
	else if (n == 1)
		words = xasprintf("%s step %lld: %s", verb, (long long)one->id,
				  one->command ? one->command : "");
	else if (n > STEPS_NAMED)
		words = xasprintf("%s %zu steps: %s and %zu more", verb, n, ids.data,
				  n - STEPS_NAMED);
	else
		words = xasprintf(n ? "%s steps %s" : "%s", verb, ids.data);
	free(before.ids);
	return words;
}

/* Those between steps that are shown, and since this session began. */
static bool is_shown(struct session *s, const struct barrier *b)
{
	return b->last_us >= s->began_wall_us || model_step(&s->model, b->after);
}

static void reload_edits(struct session *s)
{
	struct journal *j = s->edits_stale ? session_journal(s) : NULL;
	struct barrier *list = NULL;
	struct err err = {0};
	size_t n = 0, kept = 0;

	s->edits_stale = false;
	if (!j)
		return;
	if (journal_barriers_all(j, &list, &n, &err) < 0) {
		log_warn("session", "edits from outside cannot be read: %s", err.text);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_shown(s, &list[i]))
			list[kept++] = list[i];
		else
			barrier_done(&list[i]);
	}
	model_set_edits(&s->model, list, kept);
}

void session_reload_counts(struct session *s)
{
	struct journal *j = s->counts_stale && !s->model.headless ? session_journal(s) : NULL;
	struct step_info *kept = NULL;
	size_t n = 0;

	s->counts_stale = false;
	if (!j || journal_list(j, false, &kept, &n, NULL) < 0)
		return;
	model_set_counts(&s->model, kept, n);
	step_info_free(kept, n);
	s->model.version++;
}

void session_reload_stale(struct session *s)
{
	if (s->model.started && !s->model.headless)
		load_earlier(s);
	reload_turns(s);
	if (s->steps_stale && s->model.n_steps && !s->model.headless)
		session_reload_undone(s);
	reload_edits(s);
}
