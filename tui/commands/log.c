/* log - `cordon log`: the steps of this folder, newest first. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/journal/journal.h"
#include "tui/commands/commands.h"
#include "tui/commands/forget.h"
#include "tui/commands/log_rows.h"
#include "tui/commands/log_turns.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct log_options {
	bool json, turns, all_places, discard, prune, adopt, yes;
	struct prune_options oldest;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct log_options, json),
	 "one JSON object a line: id, kind, began, ended, exit, created, modified, deleted, "
	 "renamed, undone, incomplete, unprotected, note, why, command, folders (if it changed "
	 "several), split (those in which it is not as undone says); an edit from outside "
	 "(barrier) has after, count, paths; a version for redo --saved has saved, step, "
	 "overwritten, paths; with --turns: began, prompt, files, steps"},
	{"--turns", NULL, offsetof(struct log_options, turns),
	 "one row for each of your prompts: when, its newest step, how many steps and files"},
	{"--all-places", NULL, offsetof(struct log_options, all_places),
	 "also steps that changed only files outside the folder, such as an agent's transcripts"},
	{"--discard", NULL, offsetof(struct log_options, discard),
	 "remove the whole history of this folder; nothing can be undone afterwards"},
	{"--adopt", NULL, offsetof(struct log_options, adopt),
	 "take over the history of a folder that was renamed, or made anew with the same files"},
	{"--prune", NULL, offsetof(struct log_options, prune),
	 "remove the oldest steps, by --keep, --older-than or --size"},
	{"--keep", "N", offsetof(struct log_options, oldest.keep), "keep the newest N steps"},
	{"--older-than", "DAYS", offsetof(struct log_options, oldest.older_than),
	 "remove steps that ended before"},
	{"--size", "BYTES", offsetof(struct log_options, oldest.size),
	 "remove steps until the store is no larger (k, m, g)"},
	{"--yes", NULL, offsetof(struct log_options, yes), "do not ask"},
};

static const struct usage usage = {
	"log [--json] [--all-places] [--turns | PATH...] | --prune [--keep N] [--older-than DAYS] "
	"[--size BYTES] "
	"[--yes] | "
	"--adopt | --discard [--yes]",
	"List the steps of this folder, newest first; undone steps that redo brings back come on "
	"top.\nA step without an exit status was made by no command, but by an edit of the agent "
	"itself, or by a program that it left running.\nWith paths: the steps that changed these, "
	"or something below them; renames are followed back.",
	flags,
	ARRAY_LEN(flags),
};

struct barriers {
	struct barrier *list;
	size_t n;
};

static void print_head(void)
{
	printf("%s%6s  %-12s  %4s  %-17s  %s%s\n", style_on(STYLE_BOLD), "STEP", "BEGAN", "EXIT",
	       "FILES", "COMMAND", style_off());
}

/* Prints the edits from outside right after this step, newest first, and counts them. */
static void print_edits(const struct barriers *b, int64_t after, const struct log_look *look,
			size_t *rows)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->list[i].after != after)
			continue;
		if (++*rows == 1 && !look->json)
			print_head();
		log_rows_edit(&b->list[i], look);
	}
}

/* Counts of a list: printed rows, notes that were left out. */
struct printed {
	size_t rows, notes;
};

static int print_list(struct journal *j, bool undone, const struct log_options *o, const char *here,
		      const struct strings *paths, struct printed *ret, struct err *err)
{
	const struct log_look look = {
		.json = o->json, .columns = show_columns(), .here = here, .journal = j};
	const bool all = o->json || o->all_places || paths->n;
	AUTO_FREE bool *touched = NULL;
	struct barriers edits = {0};
	struct step_info *list = NULL;
	size_t n = 0;
	int r = journal_list(j, undone, &list, &n, err);

	if (r == 0 && paths->n) {
		touched = xcalloc(n + 1, sizeof(*touched));
		r = journal_touched(j, list, n, paths->list, paths->n, touched, err);
	}
	if (r == 0 && !paths->n)
		r = journal_barriers(j, &edits.list, &edits.n, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE const char **split = NULL;

		if (touched && !touched[i])
			continue;
		print_edits(&edits, list[i].id, &look, &ret->rows);
		if (!all && log_rows_is_note(&list[i])) {
			ret->notes++;
			continue;
		}
		if (++ret->rows == 1 && !o->json)
			print_head();
		split = journal_split(j, &list[i], undone);
		log_rows_step(&list[i], undone, split, &look);
	}
	step_info_free(list, n);
	barrier_free(edits.list, edits.n);
	return r;
}

static void print_waiting(const struct step_info *s, bool json)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char began[32];

	clock_iso(began, s->began_us);
	if (json) {
		buf_fmt(&b, "{\"id\":%" PRId64 ",\"kind\":\"interrupted\",\"began\":\"%s\"", s->id,
			began);
		json_member(&b, "command", s->command);
		printf("%s}\n", b.data);
		return;
	}
	show_time(began, sizeof(began), s->began_us);
	text_escape(&b, s->command, strlen(s->command));
	printf("%s%6" PRId64
	       "  %-12s  interrupted when cordon ended: the next start, or `cordon undo "
	       "--dry-run`, rolls it back: %s%s\n",
	       style_on(STYLE_YELLOW), s->id, began, b.data, style_off());
}

/* Prints steps that a crash interrupted. */
static int print_interrupted(struct journal *j, bool json, size_t *ret_n, struct err *err)
{
	struct step_info *list = NULL;
	size_t n = 0;
	int r = journal_interrupted(j, &list, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (++*ret_n == 1 && !json)
			print_head();
		print_waiting(&list[i], json);
	}
	step_info_free(list, n);
	return r;
}

static void print_saved_redo(const struct saved_redo *a, bool json)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char when[32];

	clock_iso(when, a->us);
	if (json) {
		buf_fmt(&b,
			"{\"id\":null,\"kind\":\"saved\",\"saved\":%" PRIu64 ",\"step\":%" PRId64
			",\"overwritten\":%s,\"began\":\"%s\"",
			a->number, a->step, a->overwritten ? "true" : "false", when);
		json_strings(&b, "paths", (const char *const *)a->paths, a->n_paths);
		printf("%s}\n", b.data);
		return;
	}
	for (size_t i = 0; i < MIN(a->n_paths, (size_t)5); i++) {
		buf_str(&b, i ? ", " : "");
		text_escape(&b, a->paths[i], strlen(a->paths[i]));
	}
	show_time(when, sizeof(when), a->us);
	printf("%s     =  %-12s  saved when step %" PRId64 " %s: %s%s (cordon redo --saved %" PRIu64
	       ")%s\n",
	       style_on(STYLE_YELLOW), when, a->step,
	       a->overwritten ? "overwrote what you had edited" : "was rolled back", b.data,
	       a->n_paths > 5 || a->more ? " and more" : "", a->number, style_off());
}

static int print_saved_redos(struct journal *j, bool json, size_t *ret_n, struct err *err)
{
	struct saved_redo *list = NULL;
	size_t n = 0;
	int r = journal_saved_redos(j, &list, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (++*ret_n == 1 && !json)
			print_head();
		print_saved_redo(&list[i], json);
	}
	saved_redos_free(list, n);
	return r;
}

static int no_steps(const struct here *p, const struct journal_spec *spec, bool json,
		    struct err *err)
{
	AUTO_FREE char *was = NULL;
	int r = journal_find_moved(spec, &was, err);

	if (r < 0)
		return r;
	if (!json)
		printf("No steps yet in %s.\n", p->folder);
	if (was) {
		fputs("cordon: this folder was renamed: its history is kept under ", stderr);
		show_on(stderr, was, strlen(was));
		fputs(": `cordon log --adopt` takes it over\n", stderr);
	}
	return 0;
}

static void warn_if_replaced(const struct journal *j, const struct here *p)
{
	if (!journal_is_folders(j))
		fprintf(stderr,
			"cordon: %s: another directory than the one whose history this is: nothing "
			"is undone, and the next session begins a new history; if the files are "
			"the same, `cordon log --adopt` takes this one over\n",
			p->folder);
	else if (journal_has_aside(j))
		fprintf(stderr,
			"cordon: %s: an older history is put aside: `cordon log --adopt` takes it "
			"over\n",
			p->folder);
}

/* Prints how many steps were pruned, and when. */
static void print_pruned(const struct journal *j)
{
	struct journal_pruned p;
	char when[32];
	struct tm tm;
	time_t s;

	if (!journal_pruned(j, &p))
		return;
	s = (time_t)(p.us / 1000000);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M", localtime_r(&s, &tm));
	printf("%zu older step%s, up to %" PRId64 ", %s no longer kept (journal.steps, "
	       "journal.size, journal.total-size; last on %s)\n",
	       p.n, p.n == 1 ? "" : "s", p.last, p.n == 1 ? "is" : "are", when);
}

static void print_notes(size_t n)
{
	printf("%s%6s  %zu step%s outside the folder (--all-places)%s\n", style_on(STYLE_DIM), "",
	       n, n == 1 ? "" : "s", style_off());
}

static int print_log(const struct here *p, const struct log_options *o, const struct strings *paths,
		     struct err *err)
{
	const struct journal_spec spec = {
		.folder = p->folder, .state_dir = p->state_dir, .read_only = true};
	struct journal *j = NULL;
	struct printed n = {0};
	bool json = o->json;
	int r = journal_open(&j, &spec, NULL, err);

	if (r == -ENOENT) { /* nothing has run here yet */
		err->code = 0;
		return no_steps(p, &spec, json, err);
	}
	if (r < 0)
		return here_moved(p->folder, p->state_dir, r, err);
	warn_if_replaced(j, p);
	if (o->turns) {
		r = log_turns(j, json, err);
		journal_close(j);
		return r;
	}
	if (!json)
		print_pruned(j);
	r = paths->n ? 0 : print_interrupted(j, json, &n.rows, err);
	if (r == 0)
		r = print_list(j, true, o, p->folder, paths, &n, err);
	if (r == 0)
		r = print_list(j, false, o, p->folder, paths, &n, err);
	if (r == 0 && !paths->n)
		r = print_saved_redos(j, json, &n.rows, err);
	if (r == 0 && n.rows == 0 && paths->n && !json)
		printf("No step touched %s.\n", paths->n == 1 ? "it" : "them");
	else if (r == 0 && n.rows + n.notes == 0 && !paths->n)
		r = no_steps(p, &spec, json, err);
	if (r == 0 && n.notes)
		print_notes(n.notes);
	journal_close(j);
	return r;
}

int cmd_log(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct log_options o = {0};
	struct strings args = {0}, paths = {0};
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && args.n && (o.discard || o.prune || o.adopt))
		r = err_say(
			err, -EINVAL,
			"--adopt, --discard, --prune: take no path: the whole history is meant");
	if (r == 0 && args.n && o.turns)
		r = err_say(err, -EINVAL, "--turns: takes no path: it lists prompts, not files");
	if (r == 0 && !o.prune && (o.oldest.keep || o.oldest.older_than || o.oldest.size))
		r = err_say(err, -EINVAL,
			    "--keep, --older-than, --size: only with --prune, which removes steps");
	if (r == 0)
		r = here_find(&p, err);
	if (r == 0)
		r = here_paths(&p, &args, 0, &paths, err);
	strings_done(&args);
	if (r) {
		here_paths_done(&paths);
		return r < 0 ? CMD_FAILED : 0;
	}
	if (o.adopt)
		r = adopt_history(&p, err);
	else if (o.discard)
		r = forget_all(&p, o.yes, err);
	else if (o.prune)
		r = forget_oldest(&p, &o.oldest, o.yes, err);
	else
		r = print_log(&p, &o, &paths, err);
	here_paths_done(&paths);
	if (r == -EINVAL)
		return CMD_FAILED;
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
