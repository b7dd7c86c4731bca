/* commit_check - detects a commit that reverts another one, made while git was starting. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/commit_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/external.h"
#include "tui/commands/git.h"

struct made {				   /* a commit */
	char id[80], tree[80], parent[80]; /* parent: the first one; "" for a root commit */
};

/* Finds the oldest commit with this tree after the commit that the index is based on. Later ones
 * with the same tree are empty, and not cordon's. */
static bool find_made(const struct commit_index *x, const char *tree, struct made *ret,
		      bool *ret_newest)
{
	size_t len = 0, n = 0;
	AUTO_FREE char *log = git_output(x->folder,
					 GIT("log", "--no-show-signature", "--first-parent", "-n",
					     "100", "--format=%H %T %P", "HEAD"),
					 EXTERNAL_NULL, GIT_OUT_MAX, &len);
	bool found = false;
	char *save = NULL;

	for (char *line = log ? strtok_r(log, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save), n++) {
		struct made m = {.id = ""};

		if (sscanf(line, "%79s %79s %79s", m.id, m.tree, m.parent) < 2 ||
		    (x->head && str_eq(m.id, x->head)))
			break;
		if (!str_eq(m.tree, tree))
			continue;
		*ret = m;
		*ret_newest = n == 0;
		found = true;
	}
	return found;
}

int commit_check_parent(const struct commit_index *x, struct err *err)
{
	AUTO_FREE char *tree = git_text(x->folder, GIT("write-tree"));
	struct err ignored = {0};
	bool newest = false;
	struct made m;

	if (!tree || !find_made(x, tree, &m, &newest) || str_eq(m.parent, x->head ? x->head : ""))
		return 0;
	if (newest && *m.parent &&
	    git_run(x->folder,
		    GIT("update-ref", "-m", "cordon: the branch had moved", "HEAD", m.parent, m.id),
		    &ignored) == 0)
		return err_say(err, -EBUSY,
			       "commit: the branch moved as git began: nothing is committed: look "
			       "again");
	return err_say(err, -EBUSY,
		       "commit: the branch moved as git began: %.12s takes back what %.12s "
		       "changed: revert it and commit again",
		       m.id, m.parent);
}
