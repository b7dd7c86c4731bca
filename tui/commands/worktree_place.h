/* worktree_place - names, branches and directories of the worktrees that cordon makes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/base/err.h"

/* main: directory of the repository's main worktree. Returned strings are on the heap. */
#define WORKTREE_PREFIX "cordon/" /* prefix of their branches */

bool worktree_is_name(const char *name);
int worktree_check_name(const char *name, struct err *err) MUST_USE; /* -EINVAL */
/* Returns the main worktree of the current directory's repository; NULL with err set: none. */
char *worktree_main(struct err *err) MUST_USE;
char *worktree_place(const char *main, const char *name) MUST_USE;
/* Returns whether that directory is a worktree of the repository, on the branch of its name. Only
 * then cordon relies on git's words about it: other worktrees are not cordon's. */
bool worktree_exists(const char *main, const char *name);
/* Returns the name of the worktree that the current directory is in, or NULL. */
char *worktree_of_here(const char *main) MUST_USE;
/* Returns the first of w1, w2 ... that is neither a branch nor a directory. */
char *worktree_free_name(const char *main) MUST_USE;
