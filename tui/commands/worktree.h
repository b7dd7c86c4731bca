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
	bool changes;	  /* a new worktree gets uncommitted files */
	int64_t step;	  /* and as they were after this step; 0: as they are */
	const struct standing_run *run; /* for the rules about copied files; or NULL */
};

/* Reads the number of a step. */
int worktree_step(struct worktree_wish *w, const char *word, struct err *err) MUST_USE;
/* Changes to the worktree of that name. If there is none, makes it from HEAD (w1, w2 ... if
 * unnamed), with the ignored files that worktree.copy names. -EEXIST: it exists, but must be
 * new. */
int worktree_enter(const struct worktree_wish *w, struct err *err) MUST_USE;
