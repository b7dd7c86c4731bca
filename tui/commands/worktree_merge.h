/* worktree_merge - brings the commits of a worktree into the main one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

struct worktree_flags {
	bool yes, squash;
};

/* Life: worktree_find() -> worktree_target_done(). It owns its strings. */
struct worktree_target {
	char *main, *place, *branch;
};

/* Finds a worktree. -ENOENT: the main worktree's repository has none of that name. */
int worktree_find(struct worktree_target *t, const char *name, struct err *err) MUST_USE;
void worktree_target_done(struct worktree_target *t);
/* Returns the commit of its branch, which the agent may move at any time; heap. */
char *worktree_tip(const struct worktree_target *t) MUST_USE;
/* Lists uncommitted files of the worktree and, with a tip, commits that the main one lacks (heap, a
 * line each). Output of git's that is missing or too long is an error, never an empty list. */
int worktree_read_left(const struct worktree_target *t, const char *tip, char **files, char **ahead,
		       struct err *err) MUST_USE;
size_t worktree_lines(const char *text);

/* Merges. Returns git's exit status; -ECANCELED: the user declined. */
int worktree_merge(const struct worktree_flags *f, const char *name, struct err *err) MUST_USE;
