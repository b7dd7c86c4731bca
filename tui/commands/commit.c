/* commit - `cordon commit`: commits the hunks that were kept in the review, by the user's git. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/commands/commands.h"
#include "tui/commands/commit_check.h"
#include "tui/commands/commit_index.h"
#include "tui/commands/flags.h"
#include "tui/commands/git.h"
#include "tui/commands/guarded.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"
#include "tui/commands/standing.h"

struct commit_options {
	bool turn, yes, pause;
	const char *message, *folder;
};

static const struct flag flags[] = {
	{"--turn", NULL, offsetof(struct commit_options, turn),
	 "only what was kept of the newest turn that has something kept"},
	{"--message", "TEXT", offsetof(struct commit_options, message),
	 "the message, in place of the prompt; no editor opens"},
	{"--folder", "DIR", offsetof(struct commit_options, folder),
	 "the session's folder, in place of the current directory"},
	{"--pause", NULL, offsetof(struct commit_options, pause),
	 "wait for Enter at the end: in a pane that closes then"},
	{"--yes", NULL, offsetof(struct commit_options, yes), "do not ask, and open no editor"},
};

static const struct usage usage = {
	"commit [--turn] [--message TEXT] [--folder DIR] [--yes]",
	"Commit what you kept in the review (C-] v), hunk by hunk, and nothing else. Your git does "
	"it, with your name, hooks and signature; the prompt is the message, which opens in your "
	"editor. What will be committed is shown first. Files that you staged stay staged.",
	flags,
	ARRAY_LEN(flags),
};

/* The history from which hunks are committed. */
struct source {
	struct journal *j;
	struct reviewed v;
	struct step_info *list; /* newest first */
	size_t n_list;
	struct turn_mark *marks;
	size_t n_marks;
	int64_t *steps; /* steps with kept hunks, oldest first */
	size_t n;
};

static void source_done(struct source *s)
{
	reviewed_done(&s->v);
	step_info_free(s->list, s->n_list);
	turn_marks_free(s->marks, s->n_marks);
	free(s->steps);
	journal_close(s->j);
}

static bool has_kept(const struct reviewed *v, int64_t step)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->list[i].step == step && v->list[i].is == PIECE_KEPT)
			return true;
	return false;
}

static void choose_steps(struct source *s, bool turn)
{
	const struct turn_mark *newest = NULL;
	bool any = false;

	s->steps = xcalloc(s->n_list + 1, sizeof(*s->steps));
	for (size_t i = 0; i < s->n_list; i++) {
		int64_t id = s->list[i].id;
		const struct turn_mark *of = turn_mark_of(s->marks, s->n_marks, id);

		if (!has_kept(&s->v, id) || (turn && any && of != newest))
			continue;
		newest = any ? newest : of;
		any = true;
		s->steps[s->n++] = id;
	}
	for (size_t i = 0; i < s->n / 2; i++) { /* oldest first */
		int64_t id = s->steps[i];

		s->steps[i] = s->steps[s->n - 1 - i];
		s->steps[s->n - 1 - i] = id;
	}
}

static int source_open(struct source *s, const struct here *at, bool turn, struct err *err)
{
	int r = here_open(at, "nothing to commit", &s->j, err);

	if (r < 0)
		return r;
	reviewed_load(&s->v, s->j);
	r = journal_list(s->j, false, &s->list, &s->n_list, err);
	if (r == 0)
		r = journal_turns(s->j, &s->marks, &s->n_marks, err);
	if (r < 0)
		return r;
	choose_steps(s, turn);
	if (!s->n)
		return err_say(err, -ENODATA,
			       "nothing to commit: keep changes in the review first (C-] v, y)");
	return 0;
}

/* ---- the message ----------------------------------------------------------------------------- */

static void add_prompt(struct buf *out, const char *words)
{
	for (const char *s = words; *s; s++)
		buf_ch(out, (unsigned char)*s < ' ' && *s != '\n' ? ' ' : *s);
	buf_ch(out, '\n');
}

/* Adds the prompts of the turns, newest first: its first line becomes the subject. */
static void add_prompts(struct buf *out, const struct source *s)
{
	const struct turn_mark *last = NULL;

	for (size_t i = s->n; i-- > 0;) {
		const struct turn_mark *of = turn_mark_of(s->marks, s->n_marks, s->steps[i]);

		if (!of || of == last || !of->words || !*of->words)
			continue;
		last = of;
		if (out->len)
			buf_ch(out, '\n');
		add_prompt(out, of->words);
	}
}

static int write_message(const struct commit_index *x, const struct here *at,
			 const struct source *s, const struct commit_options *o, char **ret,
			 struct err *err)
{
	AUTO_STANDING struct standing settings = {0};
	AUTO_BUF struct buf text = BUF_INIT;
	const char *by;
	int r = standing_load(&settings, at, &(struct standing_run){0}, err);

	if (r < 0)
		return r;
	if (o->message)
		buf_fmt(&text, "%s\n", o->message);
	else
		add_prompts(&text, s);
	if (!text.len && o->yes)
		return err_say(err, -EINVAL, "commit: no prompt is known: use --message TEXT");
	by = config_str(settings.config, "commit.co-author");
	if (by && *by)
		buf_fmt(&text, "\nCo-authored-by: %s\n", by);
	*ret = path_join(x->dir, "message");
	return io_write_file(AT_FDCWD, *ret, 0600, text.data, text.len, false);
}

/* ---- files to commit ------------------------------------------------------------------------- */

static void show_author(const struct commit_index *x)
{
	AUTO_FREE char *ident = git_text(x->folder, GIT("var", "GIT_AUTHOR_IDENT"));
	char *end = ident ? strrchr(ident, '>') : NULL;

	if (!end)
		return;
	printf("Author: ");
	show_text(ident, (size_t)(end + 1 - ident));
	putchar('\n');
}

static bool any_left_out(const struct kept *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->list[i].left_out)
			return true;
	return false;
}

static void show_left_out(const struct kept *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct kept_file *f = &k->list[i];

		if (!f->left_out)
			continue;
		printf("Left out: %zu of ", f->left_out);
		show_text(f->path, strlen(f->path));
		puts(": edited or taken back since you kept it, ignored by git, or it needs a "
		     "change that you did not keep");
	}
	if (k->elsewhere)
		printf("Left out: %zu in other folders: cordon commit there\n", k->elsewhere);
}

/* Asks about guarded names, which only the user may allow, at a terminal. */
static int check_names(const struct commit_index *x, const struct kept *k, bool yes,
		       struct err *err)
{
	AUTO_BUF struct buf names = BUF_INIT, guarded = BUF_INIT;
	int r;

	for (size_t i = 0; i < k->n; i++)
		if (kept_differs(&k->list[i]))
			buf_add(&names, k->list[i].path, strlen(k->list[i].path) + 1);
	r = guarded_names(&guarded, x->folder, names.data, names.len, err);
	if (r < 0 || !guarded.len)
		return r;
	printf("An agent may change these only if you allow it:\n%s", guarded.data);
	return yes ? err_say(err, -EPERM,
			     "commit: files that are guarded (above) are committed without --yes "
			     "alone: look at them")
		   : 0;
}

static int show(const struct commit_index *x, const struct kept *k, const struct commit_options *o,
		struct err *err)
{
	int r;

	show_author(x);
	r = git_shown(x->folder,
		      GIT("diff", "--cached", "--stat", "--summary", "--no-color", "--no-ext-diff",
			  "--no-textconv", x->head),
		      err);
	show_left_out(k);
	if (r > 0)
		return err_say(err, -EIO, "commit: git does not show what would be committed");
	if (r == 0)
		r = check_names(x, k, o->yes, err);
	return r < 0 || o->yes ? r : confirm_yes("Commit this?", err);
}

/* ---- the commit ------------------------------------------------------------------------------ */

/* Checks that HEAD is unchanged: the index would revert an agent's commit. */
static int check_head(const struct commit_index *x, struct err *err)
{
	AUTO_FREE char *now =
		git_text(x->folder, GIT("rev-parse", "--verify", "-q", "HEAD^{commit}"));

	if (str_eq(now ? now : "", x->head ? x->head : ""))
		return 0;
	return err_say(err, -EBUSY, "commit: the branch has moved meanwhile: look again");
}

static int commit(struct commit_index *x, const char *message, const struct commit_options *o,
		  struct err *err)
{
	const bool edit = !o->message && !o->yes && isatty(STDIN_FILENO);
	struct err why = {0};
	int r = check_head(x, err);

	if (r == 0)
		r = commit_index_share(x, err);
	if (r < 0)
		return r;
	r = edit ? git_run(x->folder, GIT("commit", "--quiet", "-F", message, "-e"), err)
		 : git_run(x->folder, GIT("commit", "--quiet", "-F", message), err);
	if (r == 0)
		r = commit_check_parent(x, err);
	if (r == 0)
		r = git_shown(x->folder, GIT("log", "-1", "--no-color", "--format=[%h] %s"), err);
	if (r == 0 && commit_index_renew(x, &why) < 0)
		fprintf(stderr, "cordon: %s; git status shows what it takes for staged\n",
			why.text);
	return r;
}

static bool is_step_of(const struct source *s, int64_t step)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->steps[i] == step)
			return true;
	return false;
}

/* Marks the kept hunks of a file as committed, unless one was left out. */
static void note_committed(struct source *s, const struct kept *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct kept_file *f = &k->list[i];

		for (size_t n = 0; n < s->v.n && !f->left_out && !f->barred; n++) {
			struct review_entry *e = &s->v.list[n];

			if (e->is == PIECE_KEPT && str_eq(e->path, f->path) &&
			    is_step_of(s, e->step))
				e->committed = true;
		}
	}
	if (reviewed_save_committed(&s->v, s->j) < 0)
		fprintf(stderr, "cordon: commit: the review goes on showing it as kept\n");
}

/* Returns git's exit status. */
static int run(const struct here *at, const struct commit_options *o, struct err *err)
{
	CLEANUP(source_done) struct source s = {0};
	CLEANUP(kept_done) struct kept k = {0};
	CLEANUP(commit_index_close) struct commit_index x = {0};
	AUTO_FREE char *message = NULL;
	size_t n = 0;
	int r = source_open(&s, at, o->turn, err);

	if (r < 0)
		return r;
	r = here_keep_out(at->folder, err);
	if (r == 0)
		r = commit_index_open(&x, at->folder, at->state_dir, err);
	if (r == 0)
		r = kept_gather(&k, s.j, &s.v, s.steps, s.n, commit_index_base, &x, err);
	if (r == 0)
		r = commit_index_stage(&x, &k, &n, err);
	if (r < 0)
		return r;
	if (!n) {
		note_committed(&s, &k);
		show_left_out(&k);
		return err_say(err, -ENODATA, "nothing to commit: %s",
			       any_left_out(&k) ? "what you kept is in HEAD, or left out"
						: "HEAD has all that you kept");
	}
	r = write_message(&x, at, &s, o, &message, err);
	if (r == 0)
		r = show(&x, &k, o, err);
	if (r == 0)
		r = commit(&x, message, o, err);
	if (r == 0)
		note_committed(&s, &k);
	return r;
}

static int find_folder(struct here *at, const char *folder, struct err *err)
{
	int r = here_find(at, err);
	char *real;

	if (r < 0 || !folder)
		return r;
	real = realpath(folder, NULL);
	if (!real)
		return err_set(err, -errno, "--folder '%s'", folder);
	free(at->folder);
	at->folder = real;
	return 0;
}

/* Shows the result until Enter, because the pane closes with the program. */
static void wait_for_enter(int r, struct err *err)
{
	int c;

	if (r < 0)
		fprintf(stderr, "cordon: %s\n", err->text);
	*err = (struct err){0};
	printf("(Enter)");
	fflush(stdout);
	while ((c = getchar()) != '\n' && c != EOF)
		continue;
}

int cmd_commit(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here at = {0};
	struct commit_options o = {0};
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r > 0) /* --help was printed */
		return 0;
	if (r == 0)
		r = find_folder(&at, o.folder, err);
	if (r < 0)
		return CMD_FAILED;
	r = run(&at, &o, err);
	if (o.pause)
		wait_for_enter(r, err);
	return r < 0 ? CMD_REFUSED : r > 0 ? 1 : finish(0, err);
}
