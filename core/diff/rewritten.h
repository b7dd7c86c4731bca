/* rewritten - finds branches and tags that no longer contain their commit from before a session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/*
 * A rebase, an amend, a reset or a forced push may rewrite commits that were reviewed long ago:
 * `git diff` is clean then. The steps have the earlier commit of each ref. libgit2 finds out
 * whether the ref still contains it: it reads only objects, no configuration, in a process of its
 * own that ends after two seconds and can only read.
 */

struct rewritten_in {
	const char *folder;  /* j's */
	const char *git_dir; /* the directory of the refs: not that of a linked worktree */
	const char *outside; /* the repository outside the folder that it is or is in, or NULL */
	int (*confine)(struct err *err); /* from struct backend, or NULL */
};

/* Returns whether refs of this git directory may have changed since then; does not cost much. */
bool rewritten_may_be(const char *git_dir, int64_t since_us);
/*
 * Calls say() for each such ref of the newest session in j's folder. The words contain names by the
 * agent, not escaped. Returns a negative errno if there may be more: -EIO, the objects could not be
 * read in time; -E2BIG, too many refs have changed.
 */
int rewritten_each(struct journal *j, const struct rewritten_in *in,
		   void (*say)(void *data, const char *words), void *data, struct err *err)
	MUST_USE;
