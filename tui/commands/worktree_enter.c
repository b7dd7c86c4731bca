/* worktree_enter - `cordon run --worktree`: makes a worktree, fills it, and changes to it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "tui/commands/git.h"
#include "tui/commands/worktree.h"
#include "tui/commands/worktree_fill.h"
#include "tui/commands/worktree_place.h"

/* Makes a worktree from HEAD of the user's current worktree. An existing branch is used. */
static int make(const char *main, const char *name, const char *place, struct err *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	AUTO_FREE char *branch = xasprintf(WORKTREE_PREFIX "%s", name);
	AUTO_FREE char *ref = xasprintf("refs/heads/%s", branch);
	AUTO_FREE char *taken = git_text(main, GIT("rev-parse", "--verify", "-q", ref));
	int r = taken ? git_run(main, GIT("worktree", "add", "--quiet", place, branch), err)
		      : git_run(here ? here : main,
				GIT("worktree", "add", "--quiet", "-b", branch, place, "HEAD"),
				err);

	if (r < 0)
		return err_wrap(err, r, "worktree '%s'", name);
	if (r > 0)
		return err_say(err, -EIO,
			       "worktree '%s': git could not make it: its message is above", name);
	return 0;
}

/* Returns the user's current worktree, from which a new one is made. Heap; NULL: none. It is the
 * directory with the next `.git`: the repository's setting core.worktree has no effect. */
static char *top_of_here(void)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	AUTO_FREE char *said = here ? git_text(here, GIT("rev-parse", "--show-toplevel")) : NULL;
	AUTO_FREE char *top = said ? realpath(said, NULL) : NULL;
	AUTO_FREE char *at = here ? realpath(here, NULL) : NULL;

	while (at && !io_has(at, ".git")) {
		char *up = str_eq(at, "/") ? NULL : path_dir(at);

		free(at);
		at = up;
	}
	return at && top && str_eq(at, top) ? take_ptr(&top) : NULL;
}

/* Fills a new worktree. After a failure it stays, for the user to see. */
static int fill(const char *top, const char *place, const char *name, const struct worktree_wish *w,
		struct err *err)
{
	const struct fill_spec spec = {.from = top, .to = place, .run = w->run};
	AUTO_FILL struct fill *f = NULL;
	int r = fill_open(&f, &spec, err);

	if (r == 0)
		r = fill_ignored(f, err);
	if (r == 0 && (w->changes || w->step))
		r = fill_changes(f, err);
	if (r == 0 && w->step)
		r = fill_as_of(f, w->step, false, err);
	if (r < 0)
		return err_wrap(err, r,
				"worktree %s is incomplete: cordon worktree drop %s removes it",
				place, name);
	return r;
}

/* Refuses changes for an existing branch: they are relative to HEAD. */
static int check_new(const char *main, const char *name, const struct worktree_wish *w,
		     struct err *err)
{
	AUTO_FREE char *place = worktree_place(main, name);
	AUTO_FREE char *ref = xasprintf("refs/heads/" WORKTREE_PREFIX "%s", name);
	AUTO_FREE char *taken = git_text(main, GIT("rev-parse", "--verify", "-q", ref));

	if ((!w->changes && !w->step) || (!taken && access(place, F_OK) < 0))
		return 0;
	return err_say(err, -EEXIST,
		       "worktree '%s' is there already: files can be brought into a new one only",
		       name);
}

/* Checks the step before anything is made. */
static int check_step(const char *top, const struct worktree_wish *w, struct err *err)
{
	const struct fill_spec spec = {.from = top, .to = top, .run = w->run};
	AUTO_FILL struct fill *f = NULL;
	int r = w->step ? fill_open(&f, &spec, err) : 0;

	return r == 0 && w->step ? fill_as_of(f, w->step, true, err) : r;
}

static int make_filled(const char *main, const char *name, const char *place,
		       const struct worktree_wish *w, struct err *err)
{
	AUTO_FREE char *top = top_of_here();
	int r = top ? check_new(main, name, w, err)
		    : err_say(err, -ENOENT, "worktree: git does not tell whose files these are");

	if (r == 0)
		r = check_step(top, w, err);
	if (r == 0)
		r = make(main, name, place, err);
	return r == 0 ? fill(top, place, name, w, err) : r;
}

int worktree_step(struct worktree_wish *w, const char *word, struct err *err)
{
	char *end = NULL;

	errno = 0;
	w->step = strtoll(word, &end, 10);
	if (!errno && end > word && !*end && w->step > 0)
		return 0;
	return err_say(err, -EINVAL, "'%s' is no step: a step has a number, as in cordon log",
		       word);
}

int worktree_enter(const struct worktree_wish *w, struct err *err)
{
	bool new = w->changes || w->step;
	AUTO_FREE char *main = worktree_main(err);
	AUTO_FREE char *own = main && !new ? worktree_of_here(main) : NULL;
	AUTO_FREE char *chosen = NULL, *place = NULL;
	int r = *w->name ? worktree_check_name(w->name, err) : 0;

	if (!main || r < 0)
		return r < 0 ? r : -ENOENT;
	chosen = *w->name ? xstrdup(w->name) : own ? xstrdup(own) : worktree_free_name(main);
	place = worktree_place(main, chosen);
	if (new || !worktree_exists(main, chosen))
		r = make_filled(main, chosen, place, w, err);
	if (r == 0 && chdir(place) < 0)
		r = err_set(err, -errno, "%s", place);
	if (r == 0)
		fprintf(stderr, "cordon: worktree %s on branch " WORKTREE_PREFIX "%s\n", place,
			chosen);
	return r;
}
