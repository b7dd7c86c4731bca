/* worktree - linked git worktrees in which sessions run, on branches of their own. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "core/base/err.h"

/*
 * The worktree NAME of the repository in /p/app is /p/app.NAME, on the branch cordon/NAME. The
 * user's own git makes, merges and removes it, outside the sandbox, with the user's hooks.
 */

struct standing_run;

struct worktree_wish {
	const char *name; /* "": the worktree of the current directory, else a new one */
	bool changes;	  /* a new one gets the files that are not committed */
	int64_t step;	  /* and they are as after this step; 0: as they are */
	const struct standing_run *run; /* for the rules of the files that come; or NULL */
};

/* Reads the number of a step. */
int worktree_step(struct worktree_wish *w, const char *word, struct err *err) MUST_USE;
/* Changes to the worktree of that name, and makes it from HEAD if there is none (w1, w2 ... where
 * it has no name), with the ignored files that worktree.copy names. -EEXIST: it is there, but is
 * to be new. */
int worktree_enter(const struct worktree_wish *w, struct err *err) MUST_USE;
