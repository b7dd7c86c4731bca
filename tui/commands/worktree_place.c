/* worktree_place - names, branches and directories of the worktrees that cordon makes. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/worktree_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/session/start/repository.h"
#include "tui/commands/git.h"
#include "tui/commands/here.h"

#define NAME_MAX_ 40

bool worktree_is_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= NAME_MAX_ && *name != '-' && *name != '.' && !strstr(name, "..") &&
	       !str_ends(name, ".lock") && !str_ends(name, ".") &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       len;
}

int worktree_check_name(const char *name, struct err *err)
{
	if (worktree_is_name(name))
		return 0;
	return err_say(err, -EINVAL, "worktree '%s': a name has letters, digits, dots, - and _",
		       name);
}

char *worktree_main(struct err *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0), *list = NULL;

	if (here && here_keep_out(here, err) < 0) /* an agent may have worked there */
		return NULL;
	list = here ? git_text(here, GIT("worktree", "list", "--porcelain")) : NULL;
	if (!list || strncmp(list, "worktree ", 9) != 0) {
		err_say(err, -ENOENT, "worktree: no git repository here: cd into one");
		return NULL;
	}
	return xstrndup(list + 9, strcspn(list + 9, "\n"));
}

char *worktree_place(const char *main, const char *name)
{
	return xasprintf("%s.%s", main, name);
}

/* Returns whether its `.git`, which an agent may have written, leads into this repository. */
static bool belongs(const char *main, const char *place)
{
	AUTO_FREE char *common =
		git_text(main, GIT("rev-parse", "--path-format=absolute", "--git-common-dir"));
	AUTO_FREE char *real = common ? realpath(common, NULL) : NULL;
	CLEANUP(repository_done) struct repository r = {0};

	return real && repository_find(&r, place) == REPOSITORY_OWN && str_eq(r.common, real);
}

bool worktree_exists(const char *main, const char *name)
{
	AUTO_FREE char *list = git_text(main, GIT("worktree", "list", "--porcelain"));
	AUTO_FREE char *entry = xasprintf("\nworktree %s.%s\n", main, name);
	AUTO_FREE char *branch = xasprintf("\nbranch refs/heads/" WORKTREE_PREFIX "%s\n", name);
	AUTO_FREE char *all = list ? xasprintf("\n%s\n\n", list) : NULL;
	AUTO_FREE char *place = worktree_place(main, name);
	const char *at = all ? strstr(all, entry) : NULL, *end, *on;

	if (!at)
		return false;
	end = strstr(at, "\n\n");
	on = strstr(at, branch);
	return on && on <= end && belongs(main, place);
}

char *worktree_of_here(const char *main)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	size_t len = strlen(main);
	AUTO_FREE char *name = NULL;

	if (!here || strncmp(here, main, len) != 0 || here[len] != '.')
		return NULL;
	name = xstrndup(here + len + 1, strcspn(here + len + 1, "/"));
	return worktree_is_name(name) && worktree_exists(main, name) ? take_ptr(&name) : NULL;
}

char *worktree_free_name(const char *main)
{
	for (int i = 1;; i++) {
		AUTO_FREE char *name = xasprintf("w%d", i);
		AUTO_FREE char *place = worktree_place(main, name);
		AUTO_FREE char *ref = xasprintf("refs/heads/" WORKTREE_PREFIX "%s", name);
		AUTO_FREE char *taken = git_text(main, GIT("rev-parse", "--verify", "-q", ref));

		if (!taken && access(place, F_OK) < 0)
			return take_ptr(&name);
	}
}
