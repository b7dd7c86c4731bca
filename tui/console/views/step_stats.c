/* step_stats - counts the changed files and lines of the project for each step, in a worker. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/step_stats.h"

#include <stdatomic.h>
#include <string.h>

#include "core/diff/diff.h"
#include "core/os/process.h"

#define BATCH 16 /* steps read by one job */

struct stats_worker {
	struct step_stats *owner; /* NULL: abandoned */
	char **folders, *state_dir;
	atomic_bool stop;
	struct journal *journal;
	struct step_stat *read[BATCH];
	size_t n;
};

struct step_stats {
	struct stats_spec spec;
	struct step_stat *by_id;
	struct stats_worker *worker;
	bool busy;
};

static void stat_free(struct step_stat *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].name);
	free(s->list);
	git_words_done(&s->git);
	free(s);
}

static void worker_free(struct stats_worker *w)
{
	for (size_t i = 0; i < w->n; i++)
		stat_free(w->read[i]);
	journal_close_all(w->journal);
	for (size_t i = 0; w->folders[i]; i++)
		free(w->folders[i]);
	free(w->folders);
	free(w->state_dir);
	free(w);
}

/* ---- the worker ------------------------------------------------------------------------------ */

static bool is_dir(const struct change *c)
{
	return S_ISDIR(c->after.exists ? c->after.mode : c->before.mode);
}

static bool counts(const struct change *c)
{
	return c->root == 0 && !is_dir(c) && !diff_is_gits_own(c->path);
}

static void add_file(struct stats_worker *w, struct step_stat *s, const struct change *c)
{
	static const char signs[] = {[CHANGE_CREATED] = 'A',
				     [CHANGE_MODIFIED] = 'M',
				     [CHANGE_DELETED] = 'D',
				     [CHANGE_RENAMED] = 'R'};
	struct stat_file f = {.name = review_name(c), .sign = signs[c->kind], .added = -1};
	struct err err = {0};

	if (diff_count(w->journal, s->id, c, &f.added, &f.deleted, &err) < 0)
		f.added = f.deleted = -1;
	if (c->kind == CHANGE_MODIFIED && !f.added && !f.deleted &&
	    c->before.mode == c->after.mode) { /* written without a change */
		s->files--;
		free(f.name);
		return;
	}
	s->added += (size_t)MAX(f.added, 0);
	s->deleted += (size_t)MAX(f.deleted, 0);
	s->list[s->n++] = f;
}

static void read_step(struct stats_worker *w, struct step_stat *s)
{
	struct change *list = NULL;
	struct err err = {0};
	bool renamed = false; /* then files below have other names, too */
	size_t n = 0;

	if (journal_changes(w->journal, s->id, &list, &n, &err) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		s->files += counts(&list[i]);
		renamed |= list[i].kind == CHANGE_RENAMED;
		if (list[i].root == 0 && !git_files_add(&s->own, list[i].path))
			s->dirs += is_dir(&list[i]);
	}
	s->many = s->files > STATS_FILES;
	s->whole = !s->many && !renamed;
	s->list = xcalloc(MIN(s->files, (size_t)STATS_FILES) + 1, sizeof(*s->list));
	for (size_t i = 0; i < n && !s->many && !atomic_load(&w->stop); i++)
		if (counts(&list[i]))
			add_file(w, s, &list[i]);
	if (s->own.n)
		git_words_add(&s->git, w->journal, s->id, list, n);
	change_free(list, n);
	if (n > REVIEW_MANY)
		os_trim_heap();
}

static void work(void *job) /* worker thread */
{
	struct stats_worker *w = job;
	struct err err = {0};

	if (!w->journal &&
	    journal_open_all(&w->journal, (const char *const *)w->folders, w->state_dir, &err) < 0)
		return;
	for (size_t i = 0; i < w->n && !atomic_load(&w->stop); i++)
		read_step(w, w->read[i]);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void ask(struct step_stats *s);

static void done(void *job)
{
	struct stats_worker *w = job;
	struct step_stats *s = w->owner;

	if (!s) {
		worker_free(w);
		return;
	}
	s->busy = false;
	for (size_t i = 0; i < w->n; i++) {
		struct step_stat *old = NULL, *new = w->read[i];

		HASH_FIND(hh, s->by_id, &new->id, sizeof(new->id), old);
		if (old) {
			HASH_DEL(s->by_id, old);
			stat_free(old);
		}
		new->read = true;
		HASH_ADD(hh, s->by_id, id, sizeof(new->id), new);
	}
	w->n = 0;
	ask(s);
	if (!s->busy) { /* its records of all steps take megabytes */
		journal_close_all(w->journal);
		w->journal = NULL;
	}
	s->spec.news(s->spec.view);
}

/* Reads the next BATCH of the requested steps. */
static void ask(struct step_stats *s)
{
	struct stats_worker *w = s->worker;

	for (struct step_stat *i = s->by_id; i && w->n < BATCH; i = i->hh.next) {
		if (i->read)
			continue;
		w->read[w->n] = xcalloc(1, sizeof(*w->read[w->n]));
		w->read[w->n++]->id = i->id;
	}
	if (!w->n)
		return;
	s->busy = true;
	s->spec.submit(s->spec.data, work, done, w);
}

const struct step_stat *stats_get(struct step_stats *s, int64_t id)
{
	struct step_stat *found = NULL;

	HASH_FIND(hh, s->by_id, &id, sizeof(id), found);
	if (found)
		return found->read ? found : NULL;
	found = xcalloc(1, sizeof(*found));
	found->id = id;
	HASH_ADD(hh, s->by_id, id, sizeof(found->id), found);
	if (!s->busy)
		ask(s);
	HASH_FIND(hh, s->by_id, &id, sizeof(id), found);
	return found && found->read ? found : NULL;
}

struct step_stats *stats_new(const struct stats_spec *spec)
{
	struct step_stats *s = xcalloc(1, sizeof(*s));
	struct stats_worker *w = xcalloc(1, sizeof(*w));
	size_t n = 0;

	while (spec->folders[n])
		n++;
	s->spec = *spec;
	s->worker = w;
	w->owner = s;
	w->state_dir = xstrdup(spec->state_dir);
	w->folders = xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		w->folders[i] = xstrdup(spec->folders[i]);
	return s;
}

void stats_free(struct step_stats *s)
{
	struct step_stat *i, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->by_id, i, next) {
		HASH_DEL(s->by_id, i);
		stat_free(i);
	}
	if (s->busy) {
		s->worker->owner = NULL;
		atomic_store(&s->worker->stop, true);
	} else {
		worker_free(s->worker);
	}
	free(s);
}
