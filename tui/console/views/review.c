/* review - files and diffs of steps, external edits or a planned merge, read by a worker. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/review.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/edited.h"
#include "core/os/process.h"
#include "tui/console/views/list.h"
#include "tui/look/syntax.h"

/* One job at a time: the first one lists the changes, each further one reads a file. */
struct review_worker {
	struct review *review; /* NULL: abandoned */
	char **folders, *state_dir;
	int64_t step;
	bool of_range; /* the steps `from` .. `to` */
	int64_t from, to;
	bool places;
	size_t left_out;
	struct git_words git;
	bool of_edits;
	struct barrier edits;
	bool of_merges;
	struct undo_plan asked; /* the displayed plan: its parameters make it again */
	struct undo_plan *plan; /* the plan made by the worker, with texts; or NULL */
	size_t *merged;		/* indexes of its merged entries */
	char filter[LIST_QUERY];
	size_t *picked; /* changes that pass the filter; set by the loop between two jobs */
	atomic_bool stop;
	/* used by the worker during a job */
	struct journal *journal;
	struct edited *edited;
	struct change *changes; /* of a step, or made from the plan */
	size_t n_changes, next;
	/* the job's result */
	int result;
	struct err err;
	struct review_line *lines;
	size_t n, cap, cut, most;
	struct buf text;
	int added, deleted;
	const struct syntax *lang; /* language of the current file */
	uint8_t old_state, new_state;
	struct review_file *ranged; /* for a range: the lines of each change */
};

static void worker_free(struct review_worker *w)
{
	bool many = w->n_changes > REVIEW_MANY;

	if (w->changes)
		change_free(w->changes, w->n_changes);
	edited_free(w->edited);
	journal_close_all(w->journal);
	barrier_done(&w->edits);
	git_words_done(&w->git);
	undo_plan_free(w->plan);
	free(w->merged);
	free(w->picked);
	for (size_t i = 0; w->folders[i]; i++)
		free(w->folders[i]);
	free(w->folders);
	free(w->state_dir);
	free(w->ranged);
	free(w->lines);
	buf_done(&w->text);
	free(w);
	if (many)
		os_trim_heap();
}

char *review_name(const struct change *c)
{
	return c->base ? path_join(c->base, c->path) : xstrdup(c->path);
}

/* ---- the worker ------------------------------------------------------------------------------ */

/* Returns the syntax state at the start of a line of the diff; each side has its own. */
static uint8_t read_state(struct review_worker *w, enum diff_line_kind kind, const char *text,
			  size_t len)
{
	uint8_t before = kind == DIFF_DEL ? w->old_state : w->new_state;

	if (kind == DIFF_HUNK || kind == DIFF_FILE)
		w->old_state = w->new_state = 0;
	if (!w->lang || (kind != DIFF_CONTEXT && kind != DIFF_ADD && kind != DIFF_DEL))
		return 0;
	len = MIN(len, (size_t)REVIEW_COLS);
	if (kind != DIFF_ADD)
		w->old_state = syntax_line(w->lang, w->old_state, text, len, NULL);
	if (kind != DIFF_DEL)
		w->new_state = syntax_line(w->lang, w->new_state, text, len, NULL);
	return before;
}

static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	struct review_worker *w = data;

	if (atomic_load(&w->stop))
		return false;
	w->added += kind == DIFF_ADD;
	w->deleted += kind == DIFF_DEL;
	if (w->n >= w->most) {
		w->cut++;
		return true;
	}
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 256;
		w->lines = xrealloc(w->lines, w->cap * sizeof(*w->lines));
	}
	w->lines[w->n++] = (struct review_line){.kind = (uint8_t)kind,
						.old_line = old_line,
						.new_line = new_line,
						.len = (uint32_t)len,
						.state = read_state(w, kind, text, len),
						.at = w->text.len};
	buf_add(&w->text, text, len);
	return true;
}

static void add_words(struct review_worker *w, const char *words)
{
	if (w->n >= w->most)
		w->n--;
	on_line(w, DIFF_META, words, strlen(words), 0, 0);
}

static int list_merges(struct review_worker *w)
{
	const struct undo_plan *asked = &w->asked;
	int r = journal_plan(w->journal, asked->kind, asked->n, asked->flags, &w->plan, &w->err);

	if (r < 0)
		return r;
	if (w->plan->seal != asked->seal)
		return err_say(&w->err, -ESTALE, "a file has changed meanwhile: look again");
	w->changes = xcalloc(w->plan->n_entries + 1, sizeof(*w->changes));
	w->merged = xcalloc(w->plan->n_entries + 1, sizeof(*w->merged));
	for (size_t i = 0; i < w->plan->n_entries; i++) {
		const struct undo_entry *e = &w->plan->entries[i];

		if (!e->merge)
			continue;
		w->merged[w->n_changes] = i;
		w->changes[w->n_changes++] = (struct change){
			.kind = CHANGE_MODIFIED, .root = e->root, .path = xstrdup(e->path)};
	}
	return 0;
}

static size_t dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* Orders by folder, directory and name, so that a directory's files are together; git's own files
 * are last. */
static int by_place(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	bool own = diff_is_gits_own(x->path), other = diff_is_gits_own(y->path);
	size_t n = dir_len(x->path), k = dir_len(y->path);
	int cmp = own - other;

	if (!cmp)
		cmp = strcmp(x->base ? x->base : "", y->base ? y->base : "");
	if (!cmp && n != k)
		cmp = strncmp(x->path, y->path, MIN(n, k));
	if (!cmp && n != k)
		cmp = n < k ? -1 : 1;
	return cmp ? cmp : strcmp(x->path, y->path);
}

/* ---- a range: one stream of all its files ---------------------------------------------------- */

static bool is_elsewhere(const struct review_worker *w, const char *path)
{
	for (size_t i = 0; w->folders[i]; i++)
		if (*path != '/' || path_is_beneath(path, w->folders[i]))
			return false;
	return true;
}

/* Returns whether a file of the range is read. Paths are relative to the first folder, or absolute;
 * raw bytes. */
static bool want_file(void *data, const char *old_path, const char *new_path)
{
	struct review_worker *w = data;
	AUTO_BUF struct buf shown = BUF_INIT;
	bool moved = !str_eq(old_path, new_path);

	if (!w->places && (diff_is_gits_own(new_path) || is_elsewhere(w, new_path))) {
		w->left_out++;
		return false;
	}
	text_escape(&shown, new_path, strlen(new_path));
	if (!list_match(w->filter, shown.data))
		return false;
	w->changes = xrealloc(w->changes, (w->n_changes + 1) * sizeof(*w->changes));
	w->changes[w->n_changes++] =
		(struct change){.kind = moved ? CHANGE_RENAMED : CHANGE_MODIFIED,
				.path = xstrdup(new_path),
				.old_path = moved ? xstrdup(old_path) : NULL};
	w->ranged = xrealloc(w->ranged, w->n_changes * sizeof(*w->ranged));
	w->lang = syntax_of(new_path);
	w->ranged[w->n_changes - 1] =
		(struct review_file){.loaded = true, .first_line = w->n, .lang = w->lang};
	return true;
}

static bool on_range_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
			  int old_line, int new_line)
{
	struct review_worker *w = data;
	struct review_file *f = &w->ranged[w->n_changes - 1];
	struct change *c = &w->changes[w->n_changes - 1];

	f->added += kind == DIFF_ADD;
	f->deleted += kind == DIFF_DEL;
	if (kind == DIFF_FILE && len > 4 && memcmp(text, "new ", 4) == 0 && !f->n_lines)
		c->kind = CHANGE_CREATED;
	if (kind == DIFF_FILE && len > 8 && memcmp(text, "deleted ", 8) == 0)
		c->kind = CHANGE_DELETED;
	f->n_lines += len > 4 && memcmp(text, "old ", 4) == 0; /* "new mode" follows */
	return on_line(w, kind, text, len, old_line, new_line);
}

static bool is_directory(const struct review_worker *w, const struct review_file *f)
{
	for (size_t i = f->first_line; i < f->first_line + f->n_lines; i++) {
		const struct review_line *l = &w->lines[i];

		if (diff_is_directory(l->kind, w->text.data + l->at, l->len))
			return true;
	}
	return false;
}

static void drop_directories(struct review_worker *w)
{
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < w->n_changes; i++) {
		struct review_file f = w->ranged[i];
		struct change *gone;

		if (is_directory(w, &f)) {
			gone = xcalloc(1, sizeof(*gone));
			*gone = w->changes[i];
			change_free(gone, 1);
			continue;
		}
		memmove(&w->lines[n], &w->lines[f.first_line], f.n_lines * sizeof(*w->lines));
		f.first_line = n;
		n += f.n_lines;
		w->changes[kept] = w->changes[i];
		w->ranged[kept++] = f;
	}
	w->n_changes = kept;
	w->n = n;
}

static void work_range(struct review_worker *w)
{
	w->most = REVIEW_RANGE;
	w->result =
		diff_range_paths(w->journal, w->from, w->to, want_file, on_range_line, w, &w->err);
	for (size_t i = 0; i < w->n_changes; i++)
		w->ranged[i].n_lines = (i + 1 < w->n_changes ? w->ranged[i + 1].first_line : w->n) -
				       w->ranged[i].first_line;
	if (!w->places)
		drop_directories(w);
	if (w->left_out)
		git_words_range(&w->git, w->journal, w->from, w->to, false);
	journal_close_all(w->journal); /* its records of all steps take megabytes */
	w->journal = NULL;
	if (w->cut > 0) {
		char words[128];

		snprintf(words, sizeof(words), "%zu more lines: cordon diff %lld.. shows them all",
			 w->cut, (long long)w->from);
		add_words(w, words);
	}
}

/* Returns whether it is a file of a working folder: no directory, and none of git's own files. */
static bool is_of_project(const struct change *c)
{
	return c->root == 0 && !diff_is_gits_own(c->path) &&
	       !S_ISDIR(c->after.exists ? c->after.mode : c->before.mode);
}

/* Drops changes outside the project if it has any, and git's own files if words replace them. */
static void leave_out(struct review_worker *w)
{
	size_t kept = 0, own = 0;

	for (size_t i = 0; i < w->n_changes; i++)
		own += is_of_project(&w->changes[i]);
	if ((!own && !w->git.n) || w->places)
		return;
	for (size_t i = 0; i < w->n_changes; i++) {
		struct change c = w->changes[i];

		if (own ? !is_of_project(&c) : diff_below_git(c.path) != NULL) {
			struct change *gone = xcalloc(1, sizeof(*gone));

			*gone = c;
			change_free(gone, 1);
			w->left_out += !S_ISDIR(c.after.exists ? c.after.mode : c.before.mode);
		} else {
			w->changes[kept++] = c;
		}
	}
	w->n_changes = kept;
}

static void work_list(void *job) /* worker thread */
{
	struct review_worker *w = job;

	w->result = journal_open_all(&w->journal, (const char *const *)w->folders, w->state_dir,
				     &w->err);
	if (w->result < 0)
		return;
	if (w->of_merges) {
		w->result = list_merges(w);
	} else if (w->of_range) {
		work_range(w);
	} else if (w->of_edits) {
		w->result = edited_open(&w->edited, w->journal, &w->edits, &w->err);
		w->n_changes = w->edited ? edited_count(w->edited) : 0;
	} else {
		w->result =
			journal_changes(w->journal, w->step, &w->changes, &w->n_changes, &w->err);
		if (w->n_changes)
			qsort(w->changes, w->n_changes, sizeof(*w->changes), by_place);
		if (w->result == 0 && !w->places)
			git_words_add(&w->git, w->journal, w->step, w->changes, w->n_changes);
		leave_out(w);
	}
	if (w->n_changes > REVIEW_MANY) /* the journal has freed as much again */
		os_trim_heap();
}

/* Shows a merge: from the current content to the content to be written. */
static int merge_file(struct review_worker *w, struct err *err)
{
	const struct undo_entry *e = &w->plan->entries[w->merged[w->picked[w->next]]];
	const struct undo_merge *m = e->merge;
	AUTO_BUF struct buf head = BUF_INIT;

	buf_fmt(&head, "diff --git a/%s b/%s", e->path, e->path);
	on_line(w, DIFF_FILE, head.data, head.len, 0, 0);
	if (e->fate == FATE_MARKED)
		add_words(w, "Both sides changed the same lines: they are marked in the file");
	return diff_texts(e->path, (struct span){.data = m->now, .len = m->now_len},
			  (struct span){.data = m->then, .len = m->then_len}, on_line, w, err);
}

static const struct change *next_change(const struct review_worker *w)
{
	size_t i = w->picked[w->next];

	return w->edited ? edited_change(w->edited, i) : &w->changes[i];
}

static int read_file(struct review_worker *w, struct err *err)
{
	if (w->plan)
		return merge_file(w, err);
	if (w->edited)
		return edited_diff(w->edited, w->picked[w->next], on_line, w, err);
	return diff_change(w->journal, w->step, &w->changes[w->picked[w->next]], on_line, w, err);
}

static void work_file(void *job) /* worker thread */
{
	struct review_worker *w = job;
	char words[128];
	struct err err = {0};
	int r;

	w->n = w->cut = 0;
	w->most = REVIEW_LINES;
	w->added = w->deleted = 0;
	w->lang = syntax_of(next_change(w)->path);
	buf_clear(&w->text);
	r = read_file(w, &err);
	if (w->next == 0 && w->n_changes > REVIEW_MANY) /* reading the records freed much */
		os_trim_heap();
	if (r < 0 && r != -ECANCELED)
		add_words(w, err.text);
	if (w->cut > 0) {
		snprintf(words, sizeof(words), "%zu more lines", w->cut);
		if (w->step)
			snprintf(words, sizeof(words),
				 "%zu more lines: cordon diff %lld shows them all", w->cut,
				 (long long)w->step);
		add_words(w, words);
	}
}

static bool passes(const struct review_worker *w, const struct change *c)
{
	AUTO_FREE char *name = review_name(c);
	AUTO_BUF struct buf shown = BUF_INIT;

	if (*w->filter)
		text_escape(&shown, name, strlen(name));
	return list_match(w->filter, shown.data);
}

/* Pairs the n-th deleted line of a run with the n-th added line after it. */
static void find_mates(struct review *r, size_t from)
{
	for (size_t i = from; i < r->n_lines;) {
		size_t del = i, add, end;

		while (i < r->n_lines && r->lines[i].kind == DIFF_DEL)
			i++;
		add = end = i;
		while (end < r->n_lines && r->lines[end].kind == DIFF_ADD)
			end++;
		for (size_t k = 0; k < add - del && add + k < end; k++) {
			r->lines[del + k].mate = (uint32_t)(add + k + 1);
			r->lines[add + k].mate = (uint32_t)(del + k + 1);
		}
		i = MAX(end, i + (end == del));
	}
}

static void take_lines(struct review *r, const struct review_worker *w)
{
	size_t base = r->text.len, from = r->n_lines;

	if (r->n_lines + w->n > r->cap_lines) {
		r->cap_lines = MAX(r->cap_lines * 2, r->n_lines + w->n);
		r->lines = xrealloc(r->lines, r->cap_lines * sizeof(*r->lines));
	}
	for (size_t i = 0; i < w->n; i++) {
		r->lines[r->n_lines] = w->lines[i];
		r->lines[r->n_lines].file = (uint32_t)w->next;
		r->lines[r->n_lines++].at += base;
	}
	buf_add(&r->text, w->text.data, w->text.len);
	find_mates(r, from);
}

/* Takes all files of a range at once. */
static void take_range(struct review *r, struct review_worker *w)
{
	r->n_lines = r->cap_lines = w->n;
	r->lines = xrealloc(take_ptr(&w->lines), (w->n + 1) * sizeof(*r->lines));
	r->text = w->text;
	w->text = (struct buf)BUF_INIT;
	r->files = take_ptr(&w->ranged);
	r->n_files = w->n_changes;
	if (!r->files)
		r->files = xcalloc(1, sizeof(*r->files));
	for (size_t i = 0; i < r->n_files; i++) {
		struct review_file *f = &r->files[i];

		f->change = &w->changes[i];
		for (size_t k = 0; k < f->n_lines; k++)
			r->lines[f->first_line + k].file = (uint32_t)i;
	}
	find_mates(r, 0);
	r->whole = true;
}

static void take_list(struct review *r, struct review_worker *w)
{
	r->listed = true;
	r->result = w->result < 0 ? w->result : 0;
	r->left_out = w->left_out;
	r->git = w->git;
	w->git = (struct git_words){0};
	if (r->result < 0) {
		snprintf(r->why, sizeof(r->why), "%.255s", w->err.text);
		r->whole = true;
		return;
	}
	if (w->of_range) {
		take_range(r, w);
		return;
	}
	r->files = xcalloc(w->n_changes + 1, sizeof(*r->files));
	w->picked = xcalloc(w->n_changes + 1, sizeof(*w->picked));
	for (size_t i = 0; i < w->n_changes; i++) {
		const struct change *c = w->edited ? edited_change(w->edited, i) : &w->changes[i];

		if (!passes(w, c))
			continue;
		w->picked[r->n_files] = i;
		r->files[r->n_files++].change = c;
	}
	r->whole = r->n_files == 0;
}

static void take_file(struct review *r, struct review_worker *w)
{
	struct review_file *f = &r->files[w->next];

	f->loaded = true;
	f->first_line = r->n_lines;
	f->added = w->added;
	f->deleted = w->deleted;
	f->lang = w->lang;
	take_lines(r, w);
	f->n_lines = w->n;
	w->next++;
	r->whole = w->next == r->n_files;
}

static void done(void *job)
{
	struct review_worker *w = job;
	struct review *r = w->review;

	if (!r) {
		worker_free(w);
		return;
	}
	r->busy = false;
	if (!r->listed)
		take_list(r, w);
	else
		take_file(r, w);
	r->news(r->view);
}

void review_more(struct review *r)
{
	if (r->busy || r->whole)
		return;
	r->busy = true;
	r->submit(r->data, r->listed ? work_file : work_list, done, r->worker);
}

struct review *review_new(const struct review_spec *spec)
{
	struct review *r = xcalloc(1, sizeof(*r));
	struct review_worker *w = xcalloc(1, sizeof(*w));
	size_t n = 0;

	while (spec->folders[n])
		n++;
	*w = (struct review_worker){.review = r,
				    .folders = xcalloc(n + 1, sizeof(char *)),
				    .state_dir = xstrdup(spec->state_dir),
				    .step = spec->step,
				    .of_range = spec->from != 0,
				    .from = spec->from,
				    .to = spec->to,
				    .places = spec->places,
				    .of_edits = spec->edits != NULL,
				    .of_merges = spec->merges != NULL,
				    .text = BUF_INIT};
	for (size_t i = 0; i < n; i++)
		w->folders[i] = xstrdup(spec->folders[i]);
	if (spec->merges)
		w->asked = (struct undo_plan){.kind = spec->merges->kind,
					      .n = spec->merges->n,
					      .flags = spec->merges->flags,
					      .seal = spec->merges->seal};
	if (spec->edits)
		w->edits = barrier_copy(spec->edits);
	snprintf(w->filter, sizeof(w->filter), "%s", spec->filter ? spec->filter : "");
	r->worker = w;
	r->submit = spec->submit;
	r->data = spec->data;
	r->news = spec->news;
	r->view = spec->view;
	r->text = (struct buf)BUF_INIT;
	return r;
}

void review_free(struct review *r)
{
	if (!r)
		return;
	if (r->busy) {
		r->worker->review = NULL;
		atomic_store(&r->worker->stop, true);
	} else {
		worker_free(r->worker);
	}
	free(r->files);
	free(r->lines);
	buf_done(&r->text);
	git_words_done(&r->git);
	if (r->n_files + r->n_lines > REVIEW_MANY)
		os_trim_heap();
	free(r);
}
