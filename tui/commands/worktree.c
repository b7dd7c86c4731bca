/* worktree - `cordon worktree`: lists, merges and removes worktrees of sessions, and forks one. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/worktree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/api/socket/roster.h"
#include "core/base/external.h"
#include "core/base/path.h"
#include "tui/commands/commands.h"
#include "tui/commands/git.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"
#include "tui/commands/worktree_left.h"
#include "tui/commands/worktree_merge.h"
#include "tui/commands/worktree_place.h"

static const struct flag flags[] = {
	{"--squash", NULL, offsetof(struct worktree_flags, squash),
	 "merge: all its commits become changes that are staged, and you commit them"},
	{"--yes", NULL, offsetof(struct worktree_flags, yes), "do not ask"},
};

static const struct usage usage = {
	"worktree list | merge NAME [--squash] | drop NAME | fork STEP [NAME] [-- COMMAND...]",
	"The git worktrees that cordon run --worktree makes: NAME lies beside the repository, on "
	"the "
	"branch cordon/NAME. merge brings its commits into the branch of the main worktree; drop "
	"removes the directory and the branch; fork makes one whose files are as they were here "
	"after a step, and runs the command in it.",
	flags,
	ARRAY_LEN(flags),
};

void worktree_target_done(struct worktree_target *t)
{
	free(t->main);
	free(t->place);
	free(t->branch);
}

int worktree_find(struct worktree_target *t, const char *name, struct err *err)
{
	int r = worktree_check_name(name, err);

	if (r < 0)
		return r;
	t->main = worktree_main(err);
	if (!t->main)
		return -ENOENT;
	t->place = worktree_place(t->main, name);
	t->branch = xasprintf(WORKTREE_PREFIX "%s", name);
	if (!worktree_exists(t->main, name))
		return err_say(err, -ENOENT,
			       "worktree '%s': there is none: cordon worktree list names them",
			       name);
	return 0;
}

/* Returns the ID of the session that runs in, below or above this folder, heap, or NULL. A hung
 * session does not report its folder: it is added to hung. */
static char *session_in(const char *folder, struct buf *hung)
{
	struct roster roster = {0};
	struct err err = {0};
	char *tag = NULL;

	if (roster_read(&roster, false, &err) < 0)
		return NULL;
	for (size_t i = 0; i < roster.n && !tag; i++) {
		const struct roster_row *row = &roster.rows[i];

		if (str_eq(row->state, "ended"))
			continue;
		if (!*row->folder)
			buf_fmt(hung, "%s%s", hung->len ? ", " : "", row->tag);
		else if (path_is_beneath(row->folder, folder) ||
			 path_is_beneath(folder, row->folder))
			tag = xstrdup(row->tag);
	}
	roster_done(&roster);
	return tag;
}

size_t worktree_lines(const char *text)
{
	size_t n = text && *text ? 1 : 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

/* Prints "1 commit ahead, ". */
static void print_count(size_t n, const char *what, const char *rest)
{
	printf("%zu %s%s%s", n, what, n == 1 ? "" : "s", rest);
}

char *worktree_tip(const struct worktree_target *t)
{
	AUTO_FREE char *ref = xasprintf("refs/heads/%s^{commit}", t->branch);

	return git_text(t->main, GIT("rev-parse", "--verify", "-q", ref));
}

/* Returns the commits that the main worktree's branch lacks, a line each; heap. */
static char *ahead_of(const struct worktree_target *t, const char *tip)
{
	AUTO_FREE char *range = xasprintf("HEAD..%s", tip);

	return git_text(t->main, GIT("log", "--oneline", "--no-color", range));
}

int worktree_read_left(const struct worktree_target *t, const char *tip, char **files, char **ahead,
		       struct err *err)
{
	*files = *ahead = NULL;
	if (access(t->place, F_OK) == 0)
		*files = worktree_status(t->place);
	else if (errno == ENOENT)
		*files = xstrdup("");
	if (tip)
		*ahead = ahead_of(t, tip);
	if (!*files || (tip && !*ahead))
		return err_say(err, -EIO,
			       "worktree: git tells nothing of %s, or too much: look "
			       "there with git status and git log",
			       t->place);
	return 0;
}

/* What a removal takes away. */
struct loss {
	char *tip;   /* of the branch, or NULL */
	char *files; /* changes that are not committed, a line each */
	char *ahead; /* commits that are not merged, a line each */
	struct buf hung;
};

static void loss_done(struct loss *l)
{
	free(l->tip);
	free(l->files);
	free(l->ahead);
	buf_done(&l->hung);
}

/* Refuses while a session runs there. */
static int loss_read(struct loss *l, const struct worktree_target *t, const char *name,
		     struct err *err)
{
	AUTO_FREE char *session = session_in(t->place, &l->hung);

	if (session)
		return err_say(err, -EBUSY, "worktree '%s': session %s runs there: end it first",
			       name, session);
	l->tip = worktree_tip(t);
	return worktree_read_left(t, l->tip, &l->files, &l->ahead, err);
}

static void loss_show(const struct loss *l, const struct worktree_target *t)
{
	if (l->ahead && *l->ahead)
		printf("Commits that are not merged: %zu\n", worktree_lines(l->ahead));
	worktree_show_lines(l->ahead);
	if (l->files && *l->files)
		print_count(worktree_lines(l->files), "change", " not committed:\n");
	worktree_show_lines(l->files);
	worktree_show_unseen(t->place);
	if (l->hung.len)
		printf("A session that does not answer may work there: %s\n", l->hung.data);
}

/* Checks that nothing has changed since it was shown: the user may take a while to answer. */
static int loss_check(const struct loss *shown, const struct worktree_target *t, const char *name,
		      struct err *err)
{
	CLEANUP(loss_done) struct loss now = {.hung = BUF_INIT};
	int r = loss_read(&now, t, name, err);

	if (r < 0 || (str_eq(now.tip ? now.tip : "", shown->tip ? shown->tip : "") &&
		      str_eq(now.files, shown->files)))
		return r;
	return err_say(err, -EBUSY,
		       "worktree '%s' has changed since you were asked: nothing was removed: run "
		       "this again",
		       name);
}

static int drop(const struct worktree_flags *f, const char *name, struct err *err)
{
	CLEANUP(worktree_target_done) struct worktree_target t = {0};
	CLEANUP(loss_done) struct loss l = {.hung = BUF_INIT};
	int r = worktree_find(&t, name, err);

	if (r == 0)
		r = loss_read(&l, &t, name, err);
	if (r < 0)
		return r;
	loss_show(&l, &t);
	if (!f->yes)
		r = confirm_yes("Remove the worktree and its branch?", err);
	if (r == 0 && !f->yes)
		r = loss_check(&l, &t, name, err);
	if (r == 0)
		r = git_run(t.main, GIT("worktree", "remove", "--force", t.place), err);
	if (r == 0)
		r = git_run(t.main, GIT("branch", "--quiet", "-D", t.branch), err);
	if (r == 0)
		printf("Removed %s; its last commit was %s (git branch NAME %.12s brings it "
		       "back).\n",
		       t.place, l.tip ? l.tip : "?", l.tip ? l.tip : "?");
	return r;
}

static int list(struct err *err)
{
	size_t n = 0;

	AUTO_FREE char *main = worktree_main(err);
	AUTO_FREE char *refs =
		main ? git_text(main, GIT("for-each-ref", "--format=%(refname:lstrip=3)",
					  "refs/heads/" WORKTREE_PREFIX))
		     : NULL;
	char *at = NULL;

	if (!main)
		return -ENOENT;
	for (char *name = strtok_r(refs ? refs : (char[]){""}, "\n", &at); name;
	     name = strtok_r(NULL, "\n", &at)) {
		CLEANUP(worktree_target_done) struct worktree_target t = {0};
		AUTO_FREE char *tip = NULL, *ahead = NULL, *left = NULL, *session = NULL;
		AUTO_BUF struct buf hung = BUF_INIT;
		struct err ignored = {0};

		if (!worktree_is_name(name) || worktree_find(&t, name, &ignored) < 0)
			continue;
		tip = worktree_tip(&t);
		ahead = tip ? ahead_of(&t, tip) : NULL;
		left = worktree_status(t.place);
		session = session_in(t.place, &hung);
		printf("%s%-12s%s  ", style_on(STYLE_BOLD), name, style_off());
		print_count(worktree_lines(ahead), "commit", " ahead, ");
		print_count(worktree_lines(left), "file", " not committed, ");
		printf("%s%s  ", session ? "session " : "no session", session ? session : "");
		show_folder(t.place);
		putchar('\n');
		n++;
	}
	if (!n)
		puts("There are none: cordon run --worktree=NAME -- CMD makes one.");
	return 0;
}

/* Forks. args: fork STEP [NAME], and the command; without a command only makes the worktree. *ran:
 * the result is the exit status of cordon run. */
static int fork_step(const struct strings *args, bool *ran, struct err *err)
{
	AUTO_FREE char *name = xasprintf("--worktree=%s", args->ahead > 2 ? args->list[2] : "");
	AUTO_FREE char *step = xasprintf("--from-step=%s", args->list[1]);
	struct worktree_wish w = {.name = name + strlen("--worktree=")};
	AUTO_FREE char **argv = xcalloc(args->n + 4, sizeof(*argv));
	int argc = 0, r = worktree_step(&w, args->list[1], err);

	if (r < 0)
		return r;
	if (args->n == args->ahead)
		return worktree_enter(&w, err);
	*ran = true;
	argv[argc++] = name;
	argv[argc++] = step;
	argv[argc++] = (char[]){"--"};
	for (size_t i = args->ahead; i < args->n; i++)
		argv[argc++] = (char *)(uintptr_t)args->list[i];
	return cmd_run(argc, argv, err);
}

static bool is_fork(const struct strings *args)
{
	return args->n && str_eq(args->list[0], "fork");
}

int cmd_worktree(int argc, char **argv, struct err *err)
{
	struct worktree_flags f = {0};
	struct strings args = {0};
	int r = flags_parse(&usage, argc, argv, &f, &args, err);
	const char *verb = r == 0 && args.n ? args.list[0] : "";
	const char *name = r == 0 && args.n == 2 ? args.list[1] : NULL;
	bool ran = false;

	if (r > 0) /* --help was printed */
		return 0;
	if (r == 0 && str_eq(verb, "list") && args.n == 1)
		r = list(err);
	else if (r == 0 && str_eq(verb, "merge") && name)
		r = worktree_merge(&f, name, err);
	else if (r == 0 && is_fork(&args) && args.ahead >= 2 && args.ahead <= 3)
		r = fork_step(&args, &ran, err);
	else if (r == 0 && str_eq(verb, "drop") && name)
		r = drop(&f, name, err);
	else if (r == 0)
		r = err_say(err, -EINVAL, "worktree: usage: cordon %s", usage.synopsis);
	strings_done(&args);
	if (ran)
		return r;
	if (r == -ECANCELED || r == -EBUSY || r == -EPERM)
		return CMD_REFUSED;
	return r < 0 ? CMD_FAILED : r > 0 ? 1 : finish(0, err);
}
