/* learn - other names of what is protected: links, gitfiles, and what git's settings name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy_priv.h"

/* learn.c */

void learn_done(struct policy *p);

/* The path, and what it leads to, is protected where it lies in a working folder. reason must live
 * as long as the policy. */
void learn_place(struct policy *p, const char *path, const char *reason);
/* The links on the way there alone, `..` as the kernel takes it. */
void learn_way(struct policy *p, const char *path, const char *reason);
/* Links in that directory whose names are protected. */
void learn_links(struct policy *p, const char *dir);

/* learn_git.c */

/* The repository of this worktree, which `.git` in it is of: a directory, a link or a gitfile. */
void learn_repository(struct policy *p, const char *worktree);
/* A worktree whose git directory is (to be) there. */
void learn_worktree(struct policy *p, const char *worktree, const char *git_dir);
/* A bare repository. */
void learn_bare(struct policy *p, const char *git_dir);
