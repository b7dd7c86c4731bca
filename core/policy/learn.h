/* learn - finds other names of protected files: links, gitfiles, and paths in git settings. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>

#include "core/policy/policy_priv.h"

/* learn.c */

void learn_done(struct policy *p);

/* learn_links.c */

/* Protects only the links on the way there; `..` as the kernel resolves it. */
void learn_way(struct policy *p, const char *path, const char *reason);
/* Protects the targets of links in this directory that have protected names. */
void learn_links(struct policy *p, const char *dir);
/* Returns the type of an entry of this directory, DT_*. */
unsigned char learn_type(const char *dir, const struct dirent *e);

/* learn_git.c */

/* Learns the repository of this worktree, whose `.git` is a directory, a link or a gitfile. */
void learn_repository(struct policy *p, const char *worktree);
/* Learns a worktree whose git directory is, or will be, git_dir. */
void learn_worktree(struct policy *p, const char *worktree, const char *git_dir);
/* Learns a bare repository. */
void learn_bare(struct policy *p, const char *git_dir);
