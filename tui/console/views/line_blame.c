/* line_blame - shows the step, turn or edit that wrote a line of a diff, as a message. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/line_blame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/blame.h"

#define TEXT_MAX 4096 /* most bytes of a line in a diff */

struct line_blame {
	struct ui *ui;		 /* NULL: abandoned */
	char **folders, *folder; /* the session's; the one that the file is in */
	char *state_dir, *path;	 /* path: below that folder */
	struct buf text;	 /* may contain NULs */
	int line;
	int result;
	struct err err;
	struct buf words;
};

static void job_free(struct line_blame *b)
{
	util_free_list(&b->folders);
	free(b->state_dir);
	free(b->path);
	buf_done(&b->text);
	buf_done(&b->words);
	free(b);
}

/* ---- the worker ------------------------------------------------------------------------------ */

/* Returns the line with the same text that is nearest to the number, or NULL. */
static const struct blame_line *find_line(const struct line_blame *b, const struct blame *all)
{
	const struct blame_line *best = NULL;
	long distance = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct span *t = &all->lines[i].text;
		long d = labs((long)i + 1 - b->line);

		if (t->len < b->text.len || (t->len > b->text.len && b->text.len < TEXT_MAX) ||
		    memcmp(t->data, b->text.data, b->text.len) != 0 || (best && d >= distance))
			continue;
		best = &all->lines[i];
		distance = d;
	}
	return best;
}

/* Appends "step 12, 22:04:45: fix the parser". */
static void add_step(struct line_blame *b, const struct blame_line *l, struct journal *j,
		     const struct step_info *list, size_t n)
{
	const struct turn_mark *turn;
	struct turn_mark *marks = NULL;
	size_t n_marks = 0;
	const char *words = NULL;
	char when[32];

	buf_fmt(&b->words, "step %" PRId64 "%s", l->step, l->unsure ? ", or an edit after it" : "");
	if (journal_turns(j, &marks, &n_marks, NULL) < 0)
		return;
	turn = turn_mark_of(marks, n_marks, l->step);
	for (size_t i = 0; i < n; i++)
		if (list[i].id == l->step) {
			clock_day(when, sizeof(when), list[i].began_us, true);
			buf_fmt(&b->words, ", %s", when);
			words = list[i].command;
			if (step_is_restore(list[i].kind, words) || step_is_yours(words))
				turn = NULL; /* the agent's prompt did not lead to it */
		}
	if (turn && turn->words && *turn->words)
		words = turn->words;
	if (words && *words) {
		buf_str(&b->words, ": ");
		text_escape(&b->words, words, strlen(words));
	}
	turn_marks_free(marks, n_marks);
}

static void add_words(struct line_blame *b, const struct blame_line *l, struct journal *j,
		      const struct step_info *list, size_t n)
{
	if (!l)
		buf_str(&b->words, "the file has no such line any more");
	else if (l->by == BLAME_STEP)
		add_step(b, l, j, list, n);
	else if (l->by == BLAME_OUTSIDE)
		buf_fmt(&b->words, "edited outside cordon after step %" PRId64, l->step);
	else
		buf_str(&b->words, l->unsure ? "no step that is kept wrote it"
					     : "older than the history of this folder");
}

/* The file is in its own folder's history; turns are in the first folder's. */
static void work(void *job) /* worker thread */
{
	struct line_blame *b = job;
	const struct journal_spec spec = {
		.folder = b->folder, .state_dir = b->state_dir, .read_only = true};
	struct journal *j = NULL, *session = NULL;
	struct step_info *list = NULL;
	struct blame all = {0};
	size_t n = 0;

	b->result = journal_open(&j, &spec, NULL, &b->err);
	if (b->result == 0)
		b->result = journal_open_all(&session, (const char *const *)b->folders,
					     b->state_dir, &b->err);
	if (b->result == 0)
		b->result = journal_list(j, false, &list, &n, &b->err);
	if (b->result == 0)
		b->result = blame_file(j, b->path, list, n, &all, &b->err);
	if (b->result == 0)
		add_words(b, find_line(b, &all), session, list, n);
	blame_done(&all);
	step_info_free(list, n);
	journal_close_all(session);
	journal_close(j);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void done(void *job)
{
	struct line_blame *b = job;
	AUTO_BUF struct buf name = BUF_INIT;

	if (!b->ui) {
		job_free(b);
		return;
	}
	b->ui->blaming = NULL;
	text_escape(&name, b->path, strlen(b->path));
	if (b->result < 0)
		ui_say(b->ui, "x %s", b->err.text);
	else
		ui_say(b->ui, "%s:%d: %s", name.data, b->line, b->words.data);
	b->ui->dirty = true;
	job_free(b);
}

/* Returns the index of the innermost folder that contains the absolute path; -1: none. */
static int folder_of(const char *const *folders, const char *path)
{
	int best = -1;

	for (int i = 0; folders[i]; i++)
		if (path_below(path, folders[i]) &&
		    (best < 0 || strlen(folders[i]) > strlen(folders[best])))
			best = i;
	return best;
}

void line_blame(struct ui *ui, const struct blamed_line *l)
{
	const struct ui_spec *spec = &ui->spec;
	int folder = 0;
	struct line_blame *b;

	if (ui->blaming)
		return;
	if ((l->kind != DIFF_ADD && l->kind != DIFF_CONTEXT) || l->line < 1) {
		ui_say(ui, "Go to a line that the file has: this one has no writer.");
		return;
	}
	if (spec->folders && *l->path == '/')
		folder = folder_of(spec->folders, l->path);
	if (!spec->folders || !spec->state_dir || !spec->verbs->submit || folder < 0) {
		ui_say(ui, "cordon blame, in that file's folder, tells who wrote it.");
		return;
	}
	b = xcalloc(1, sizeof(*b));
	*b = (struct line_blame){
		.ui = ui,
		.folders = util_list_copy(spec->folders),
		.state_dir = xstrdup(spec->state_dir),
		.path = xstrdup(*l->path == '/' ? path_below(l->path, spec->folders[folder])
						: l->path),
		.text = BUF_INIT,
		.line = l->line,
		.words = BUF_INIT};
	b->folder = b->folders[folder];
	buf_add(&b->text, l->text.data, l->text.len);
	ui->blaming = b;
	spec->verbs->submit(spec->data, work, done, b);
}

void line_blame_abandon(struct ui *ui)
{
	if (ui->blaming)
		ui->blaming->ui = NULL;
	ui->blaming = NULL;
}
