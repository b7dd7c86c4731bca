/* history - reads this session's steps from the store, and edits between them. */
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

/* Names the folders in which each kept step is undone, as `cordon log` does. */
static void name_split(struct session *s, const struct step_info *kept, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE const char **folders = journal_split(s->journal, &kept[i], false);
		AUTO_BUF struct buf words = BUF_INIT;

		for (const char **f = folders; f && *f; f++)
			buf_fmt(&words, "%s%s", f == folders ? "" : ", ", *f);
		model_set_undone_in(&s->model, kept[i].id, folders ? words.data : NULL);
	}
}

void session_load_earlier(struct session *s)
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
	name_split(s, kept, n_kept);
	step_info_free(redo, n_redo);
	step_info_free(kept, n_kept);
	s->edits_stale = s->turns_stale = true;
	session_review_settle(s);
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

/* Adds restores, which are steps without a command. */
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
		name_split(s, kept, n_kept);
		add_restored(s, kept, n_kept);
		model_set_counts(&s->model, kept, n_kept);
		step_info_free(kept, n_kept);
	}
	step_info_free(redo, n_redo);
	s->edits_stale = true;
	session_review_settle(s);
	s->model.version++;
}

/* ---- words for an undo ------------------------------------------------------------------------
 */

#define STEPS_NAMED 6 /* as in the plan */

struct undone { /* the steps that were undone before */
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

/* Describes a restore: it makes a step and undoes no other. */
static char *restore_words(struct session *s, const char *verb)
{
	const struct step_row *made = model_newest_restore(&s->model);

	if (!made)
		return xstrdup(verb);
	session_notice_undo(s, verb, &made->id, 1);
	return xasprintf("%s, as step %lld: %s", verb, (long long)made->id,
			 made->command ? made->command : "");
}

static char *steps_words(struct session *s, const char *verb, const int64_t *ids, size_t n)
{
	const struct step_row *one = n == 1 ? model_step(&s->model, ids[0]) : NULL;
	AUTO_BUF struct buf list = BUF_INIT;

	session_notice_undo(s, verb, ids, n);
	if (one)
		return xasprintf("%s step %lld: %s", verb, (long long)one->id,
				 one->command ? one->command : "");
	for (size_t i = 0; i < MIN(n, (size_t)STEPS_NAMED); i++)
		buf_fmt(&list, "%s%lld", i ? ", " : "", (long long)ids[i]);
	if (!n)
		return xstrdup(verb);
	return xasprintf("%s %zu steps (%s%s)", verb, n, list.data, n > STEPS_NAMED ? ", ..." : "");
}

/* Returns the steps whose state has changed, newest first, as the plan names them. */
static struct undone changed_steps(const struct model *m, const struct undone *before)
{
	struct undone now = {.ids = xcalloc(m->n_steps + 1, sizeof(*now.ids))};

	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].undone != was_undone(before, m->steps[i].id))
			now.ids[now.n++] = m->steps[i].id;
	now.n = model_drop_notes(m, now.ids, now.n);
	return now;
}

char *session_undo_words(struct session *s, const char *verb)
{
	struct undone before = undone_now(&s->model), now;
	char *words;

	session_reload_undone(s);
	now = changed_steps(&s->model, &before);
	words = s->model.job.kind == UNDO_PATHS ? restore_words(s, verb)
						: steps_words(s, verb, now.ids, now.n);
	free(before.ids);
	free(now.ids);
	return words;
}

/* Returns whether the edit lies between shown steps or is newer than the start of this session. */
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
	struct journal *j = s->counts_stale && !s->unseen ? session_journal(s) : NULL;
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
	if (s->model.started && !s->unseen)
		session_load_earlier(s);
	reload_turns(s);
	if (s->steps_stale && s->model.n_steps && !s->unseen)
		session_reload_undone(s);
	reload_edits(s);
}

void session_attended(struct session *s, bool seen, bool human)
{
	bool first = s->unseen && seen;

	if (!s->headless)
		return;
	s->model.headless = !human;
	s->unseen = !seen;
	if (!first)
		return;
	s->steps_stale = s->counts_stale = true;
	session_reload_stale(s);
	session_reload_counts(s);
}
