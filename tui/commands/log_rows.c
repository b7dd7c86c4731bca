/* log_rows - prints a step, or an external edit, as a row of a table or a line of JSON. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/log_rows.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/edited.h"
#include "tui/commands/show.h"

#define COUNTED_MAX 2000 /* paths of a step that are read for its row */

static const char *kind_name(enum step_kind kind)
{
	static const char *const names[] = {
		[STEP_COMMAND] = "command", [STEP_AMBIENT] = "ambient", [STEP_API] = "api"};

	return names[kind];
}

bool log_rows_is_note(const struct step_info *s)
{
	const size_t changed = s->created + s->modified + s->deleted + s->renamed;

	return step_is_note(s->kind, s->elsewhere && !s->granted, changed, s->command) ||
	       (s->kind == STEP_AMBIENT && !changed && !s->incomplete && !s->unprotected);
}

static void print_json(const struct step_info *s, bool undone, const char *const *split)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char began[32], ended[32];

	clock_iso(began, s->began_us);
	clock_iso(ended, s->ended_us);
	buf_fmt(&b,
		"{\"id\":%" PRId64 ",\"kind\":\"%s\",\"began\":\"%s\",\"ended\":\"%s\",\"exit\":%d"
		",\"created\":%zu,\"modified\":%zu,\"deleted\":%zu,\"renamed\":%zu,\"undone\":%s"
		",\"incomplete\":%s,\"unprotected\":%s,\"note\":%s",
		s->id, kind_name(s->kind), began, ended, s->exit_status, s->created, s->modified,
		s->deleted, s->renamed, undone ? "true" : "false", s->incomplete ? "true" : "false",
		s->unprotected ? "true" : "false", log_rows_is_note(s) ? "true" : "false");
	json_member(&b, "why", s->why);
	json_member(&b, "command", s->command);
	json_strings(&b, "folders", (const char *const *)s->folders, SIZE_MAX);
	if (split)
		json_strings(&b, "split", split, SIZE_MAX);
	printf("%s}\n", b.data);
}

/* Counts of a step by kind of change; git's own files and directories apart. */
struct counts {
	size_t by_kind[CHANGE_RENAMED + 1], dirs, outside;
	struct git_files git;
};

static void count_change(struct counts *n, const struct change *c)
{
	/* a git directory outside the working folder */
	AUTO_FREE char *whole =
		c->base && strstr(c->base, ".git") ? path_join(c->base, c->path) : NULL;
	const bool dir = S_ISDIR(c->after.exists ? c->after.mode : c->before.mode);

	if (git_files_add(&n->git, whole ? whole : c->path))
		return;
	if (c->root != 0)
		n->outside += !dir;
	else if (dir && c->kind != CHANGE_RENAMED)
		n->dirs++;
	else
		n->by_kind[c->kind]++;
}

/* Counts the step's files. Those outside the folder are notes if no command changed them. Of a step
 * elsewhere, with more paths than COUNTED_MAX, or that cannot be read, all paths count. */
static void count(struct counts *n, const struct step_info *s, struct journal *j)
{
	const size_t all = s->created + s->modified + s->deleted + s->renamed;
	struct change *list = NULL;
	struct err err = {0};
	size_t len = 0;

	*n = (struct counts){.by_kind = {[CHANGE_CREATED] = s->created,
					 [CHANGE_MODIFIED] = s->modified,
					 [CHANGE_DELETED] = s->deleted,
					 [CHANGE_RENAMED] = s->renamed}};
	if (s->elsewhere || all > COUNTED_MAX || journal_changes(j, s->id, &list, &len, &err) < 0)
		return;
	*n = (struct counts){0};
	for (size_t i = 0; i < len; i++)
		count_change(n, &list[i]);
	if (s->kind == STEP_AMBIENT)
		n->outside = 0;
	change_free(list, len);
}

/* Appends "+3 ~2 -1 >1 commit": created, modified, deleted, renamed files, and git's own in a word;
 * then "1 outside". Directories are named if there is nothing else. */
static void count_words(struct buf *out, const struct counts *n)
{
	static const char signs[] = {[CHANGE_CREATED] = '+',
				     [CHANGE_MODIFIED] = '~',
				     [CHANGE_DELETED] = '-',
				     [CHANGE_RENAMED] = '>'};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (n->by_kind[i])
			buf_fmt(out, "%s%c%zu", out->len ? " " : "", signs[i], n->by_kind[i]);
	if (n->git.n)
		buf_fmt(out, "%s%s", out->len ? " " : "",
			git_files_commit(&n->git) ? "commit" : "git");
	else if (!out->len && n->dirs)
		buf_fmt(out, "%zu dir%s", n->dirs, n->dirs == 1 ? "" : "s");
	if (n->outside)
		buf_fmt(out, "%s%zu outside", out->len ? " " : "", n->outside);
}

/* Prints "  (also in /a, /b)": all these folders except `but`. */
static void print_folders(const char *words, const char *const *folders, const char *but)
{
	const char *before = words;

	for (const char *const *f = folders; f && *f; f++) {
		if (but && str_eq(*f, but))
			continue;
		fputs(before, stdout);
		show_text(*f, strlen(*f));
		before = ", ";
	}
	if (before != words)
		putchar(')');
}

static void print_row(const struct step_info *s, bool undone, const char *const *split,
		      const struct log_look *look)
{
	AUTO_BUF struct buf command = BUF_INIT;
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_BUF struct buf what = BUF_INIT;
	const char *words = s->command ? s->command : "";
	char when[32], status[16] = "-";
	struct counts n;

	show_time(when, sizeof(when), s->began_us);
	count(&n, s, look->journal);
	count_words(&what, &n);
	if (s->kind != STEP_AMBIENT && s->exit_status >= 0) /* several commands have none */
		snprintf(status, sizeof(status), "%d", s->exit_status);
	if (s->kind == STEP_AMBIENT && !*words)
		words = "(outside every command)";
	text_escape(&command, words, strlen(words));
	if (look->columns)
		text_fit_end(&shown, command.data, MAX(20, look->columns - 49));
	else
		buf_str(&shown, command.data);
	printf("%s%6" PRId64 "  %-12s  %s%4s%s  %-17s  %s", undone ? style_on(STYLE_DIM) : "",
	       s->id, when,
	       s->exit_status > 0 && s->kind != STEP_AMBIENT && !undone ? style_on(STYLE_RED) : "",
	       status, undone ? "" : style_off(), what.data, shown.data);
	if (undone)
		printf("  (undone)%s", style_off());
	print_folders("  (also in ", (const char *const *)s->folders, look->here);
	print_folders(undone ? "  (not undone in " : "  (undone in ", split, NULL);
	if (s->elsewhere)
		fputs("  (outside the folder)", stdout);
	if (s->incomplete) {
		printf("  %s%s", style_on(STYLE_YELLOW), s->unprotected ? "" : "incomplete: ");
		show_text(s->why ? s->why : "", s->why ? strlen(s->why) : 0);
		fputs(style_off(), stdout);
	}
	putchar('\n');
}

void log_rows_step(const struct step_info *s, bool undone, const char *const *split,
		   const struct log_look *look)
{
	if (look->json)
		print_json(s, undone, split);
	else
		print_row(s, undone, split, look);
}

static void print_edit_json(const struct barrier *e)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char first[32], last[32];

	clock_iso(first, e->first_us);
	clock_iso(last, e->last_us);
	buf_fmt(&b,
		"{\"id\":null,\"kind\":\"barrier\",\"after\":%" PRId64
		",\"began\":\"%s\",\"ended\":\"%s\",\"count\":%zu",
		e->after, first, last, e->count);
	json_strings(&b, "paths", (const char *const *)e->paths, e->n_paths);
	printf("%s}\n", b.data);
}

static void print_edit(const struct barrier *e, int columns)
{
	AUTO_BUF struct buf names = BUF_INIT;
	AUTO_BUF struct buf shown = BUF_INIT;
	const enum edited_what what = edited_what(e);
	size_t n = MIN(e->n_paths, (size_t)5);
	char when[32], git[512];

	show_time(when, sizeof(when), e->first_us);
	for (size_t i = 0; i < n; i++) {
		const char *path = e->paths[i];

		if (edited_is_noise(what, path))
			continue;
		if (edited_git_name(path, git, sizeof(git)))
			path = git;
		buf_str(&names, names.len ? ", " : "");
		text_escape(&names, path, strlen(path));
	}
	if (e->count > n)
		buf_fmt(&names, " and %zu more", e->count - n);
	if (columns)
		text_fit_end(&shown, names.data, MAX(20, columns - 45));
	else
		buf_str(&shown, names.data);
	printf("%s     !  %-12s  %s from outside: %s%s\n", style_on(STYLE_YELLOW), when,
	       what == EDITED_COMMIT ? "commit" : "edited", shown.data, style_off());
}

void log_rows_edit(const struct barrier *e, const struct log_look *look)
{
	if (look->json)
		print_edit_json(e);
	else
		print_edit(e, look->columns);
}
