/* report_files - the files of each turn of a report, read from the history. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/diff/diff.h"
#include "tui/commands/here.h"
#include "tui/commands/report.h"

struct history {
	struct journal *j;
	struct step_info *list; /* in effect, newest first */
	struct step_info *undone;
	size_t n_list, n_undone;
};

struct adding {
	struct turn_facts *t;
	size_t file; /* the file of the next lines */
};

static bool on_file(void *data, const char *old_path, const char *new_path)
{
	struct adding *a = data;
	struct turn_facts *t = a->t;

	if (diff_is_gits_own(old_path) && diff_is_gits_own(new_path)) {
		t->git_files++;
		return false;
	}
	if (*new_path == '/') {
		t->elsewhere++;
		return false;
	}
	a->file = 0;
	while (a->file < t->n_files && !str_eq(t->files[a->file].path, new_path))
		a->file++;
	if (a->file < t->n_files)
		return true; /* changed before and after one of the user's own steps */
	t->files = xrealloc(t->files, (t->n_files + 1) * sizeof(*t->files));
	t->files[t->n_files++] =
		(struct file_fact){.old_path = xstrdup(old_path), .path = xstrdup(new_path)};
	return true;
}

static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	const struct adding *a = data;
	struct file_fact *f = a->file < a->t->n_files ? &a->t->files[a->file] : NULL;

	(void)old_line, (void)new_line;
	if (!f)
		return true;
	f->added += kind == DIFF_ADD;
	f->deleted += kind == DIFF_DEL;
	f->binary |= kind == DIFF_META && *text != '\\';
	f->directory |= diff_is_directory(kind, text, len);
	return true;
}

static void drop_directories(struct turn_facts *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_files; i++) {
		if (t->files[i].directory) {
			free(t->files[i].old_path);
			free(t->files[i].path);
		} else {
			t->files[n++] = t->files[i];
		}
	}
	t->n_files = n;
}

/* Adds the files of these steps, without those of the user's own between them. */
static int add_range(struct turn_facts *t, const struct history *h, int64_t from, int64_t to,
		     struct err *err)
{
	struct adding a = {.t = t};
	int64_t first = 0, last = 0;
	int r = 0;

	for (size_t i = h->n_list; r >= 0 && i-- > 0;) {
		const int64_t id = h->list[i].id;
		const bool within = llabs(id) >= llabs(from) && llabs(id) <= llabs(to);

		if (within && !step_is_yours(h->list[i].command)) {
			first = first ? first : id;
			last = id;
		} else if (first) {
			r = diff_range_paths(h->j, first, last, on_file, on_line, &a, err);
			first = 0;
		}
	}
	if (r >= 0 && first)
		r = diff_range_paths(h->j, first, last, on_file, on_line, &a, err);
	drop_directories(t);
	return r;
}

/* Returns whether the step is in the list; sets *ret_note if it is a note. */
static bool find_step(const struct step_info *list, size_t n, int64_t id, bool *ret_note)
{
	for (size_t i = 0; i < n; i++) {
		const struct step_info *s = &list[i];

		if (s->id != id)
			continue;
		*ret_note = step_is_note(s->kind, s->elsewhere && !s->granted,
					 s->created + s->modified + s->deleted + s->renamed,
					 s->command);
		return true;
	}
	return false;
}

/* Adds the combined changes of the turn's steps in effect. */
static void add_turn(struct turn_facts *t, const struct history *h)
{
	int64_t from = 0, to = 0;
	struct err err = {0};
	size_t gone = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct fact *f = &t->list[i];

		if (!f->step)
			continue;
		f->undone = find_step(h->undone, h->n_undone, f->step, &f->note);
		if (f->kind == FACT_YOURS)
			continue;
		if (find_step(h->list, h->n_list, f->step, &f->note)) {
			from = !from || llabs(f->step) < llabs(from) ? f->step : from;
			to = !to || llabs(f->step) > llabs(to) ? f->step : to;
		} else {
			gone += !f->undone;
		}
	}
	if (from && add_range(t, h, from, to, &err) < 0)
		t->files_why = xstrdup(err.text);
	else if (gone)
		t->files_why = xasprintf("%zu step%s of this turn %s no longer in the history",
					 gone, gone == 1 ? "" : "s", gone == 1 ? "is" : "are");
}

int report_add_files(struct report *r, const struct here *at, struct err *err)
{
	const struct journal_spec spec = {
		.folder = at->folder, .state_dir = at->state_dir, .read_only = true};
	struct history h = {0};
	int e = journal_open(&h.j, &spec, NULL, err);

	if (e == -ENOENT) {
		err->code = 0;
		return 0; /* nothing has changed here, or the history was discarded */
	}
	if (e < 0)
		return here_moved(at->folder, at->state_dir, e, err);
	e = journal_list(h.j, false, &h.list, &h.n_list, err);
	if (e == 0)
		e = journal_list(h.j, true, &h.undone, &h.n_undone, err);
	for (size_t i = 0; e == 0 && i < r->n_turns; i++)
		add_turn(&r->turns[i], &h);
	step_info_free(h.list, h.n_list);
	step_info_free(h.undone, h.n_undone);
	journal_close(h.j);
	return e;
}
