/* log_turns - `cordon log --turns`: one row for each prompt of the user. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/log_turns.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/diff/diff.h"
#include "tui/commands/commands.h"
#include "tui/commands/show.h"

#define TURN_NAMES 5 /* names of steps, in place of an unknown prompt */

struct turn {
	const struct turn_mark *mark; /* NULL: steps without a turn */
	const struct step_info *list; /* its steps, newest first */
	size_t n, steps, files;	      /* steps, files: in the folder */
};

static size_t files_of(const struct step_info *s)
{
	return s->created + s->modified + s->deleted + s->renamed;
}

static bool is_of_folder(const struct step_info *s)
{
	return !s->elsewhere && !step_is_note(s->kind, s->elsewhere, files_of(s), s->command);
}

/* Appends the prompt, or the names of the turn's steps. */
static void add_title(const struct turn *t, struct buf *out)
{
	const char *words = t->mark ? t->mark->words : NULL;

	if (words)
		text_escape(out, words, strlen(words));
	for (size_t i = t->n, names = 0; !words && i-- > 0 && names < TURN_NAMES;) {
		const char *name = step_deed(t->list[i].kind, t->list[i].command);

		if (!name || !is_of_folder(&t->list[i]))
			continue;
		buf_str(out, names++ ? ", " : "");
		text_escape(out, name, strlen(name));
	}
}

struct seen { /* a counted file of the turn */
	char *path;
	UT_hash_handle hh;
};

static void count_file(struct seen **files, const struct change *c)
{
	struct seen *seen = NULL;

	if (c->root != 0 || S_ISDIR(c->after.exists ? c->after.mode : c->before.mode) ||
	    diff_is_gits_own(c->path))
		return;
	HASH_FIND_STR(*files, c->path, seen);
	if (seen)
		return;
	seen = xcalloc(1, sizeof(*seen));
	seen->path = xstrdup(c->path);
	HASH_ADD_KEYPTR(hh, *files, seen->path, strlen(seen->path), seen);
}

/* Counts the turn's steps and files in the folder; a file of several steps counts once, if their
 * changes can be read. */
static void count(struct journal *j, struct turn *t)
{
	struct seen *files = NULL, *seen, *next;

	for (size_t i = 0; i < t->n; i++) {
		struct change *list = NULL;
		struct err err = {0};
		size_t n = 0;

		if (!is_of_folder(&t->list[i]))
			continue;
		t->steps++;
		if (journal_changes(j, t->list[i].id, &list, &n, &err) < 0)
			t->files += files_of(&t->list[i]);
		for (size_t k = 0; k < n; k++)
			count_file(&files, &list[k]);
		change_free(list, n);
	}
	t->files += HASH_COUNT(files);
	HASH_ITER (hh, files, seen, next) {
		HASH_DEL(files, seen);
		free(seen->path);
		free(seen);
	}
}

static void print_json(const struct turn *t)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char began[32];

	clock_iso(began, t->mark ? t->mark->us : t->list[t->n - 1].began_us);
	buf_fmt(&b, "{\"began\":\"%s\"", began);
	json_member(&b, "prompt", t->mark ? t->mark->words : NULL);
	buf_fmt(&b, ",\"files\":%zu,\"steps\":[", t->files);
	for (size_t i = t->n; i-- > 0;)
		buf_fmt(&b, "%" PRId64 "%s", t->list[i].id, i ? "," : "");
	printf("%s]}\n", b.data);
}

static void print_row(const struct turn *t, int columns)
{
	AUTO_BUF struct buf words = BUF_INIT;
	AUTO_BUF struct buf shown = BUF_INIT;
	char when[32], newest[24];

	show_time(when, sizeof(when), t->mark ? t->mark->us : t->list[t->n - 1].began_us);
	add_title(t, &words);
	if (columns)
		text_fit_end(&shown, words.data, MAX(20, columns - 42));
	else
		buf_str(&shown, words.data);
	snprintf(newest, sizeof(newest), "%" PRId64, t->list[0].id);
	printf("%-12s  %6s  %5zu  %5zu  %s\n", when, newest, t->steps, t->files, shown.data);
}

int log_turns(struct journal *j, bool json, struct err *err)
{
	struct turn_mark *marks = NULL;
	struct step_info *list = NULL;
	size_t n = 0, n_marks = 0;
	int columns = show_columns();
	int r = journal_turns(j, &marks, &n_marks, err);

	if (r == 0)
		r = journal_list(j, false, &list, &n, err);
	if (r == 0 && n && !json)
		printf("%s%-12s  %6s  %5s  %5s  %s%s\n", style_on(STYLE_BOLD), "BEGAN", "NEWEST",
		       "STEPS", "FILES", "PROMPT", style_off());
	for (size_t i = 0; r == 0 && i < n;) {
		struct turn t = {.list = &list[i],
				 .mark = turn_mark_of(marks, n_marks, list[i].id)};

		while (i < n && turn_mark_of(marks, n_marks, list[i].id) == t.mark)
			i++, t.n++;
		count(j, &t);
		if (json)
			print_json(&t);
		else if (t.steps)
			print_row(&t, columns);
	}
	step_info_free(list, n);
	turn_marks_free(marks, n_marks);
	return r;
}
