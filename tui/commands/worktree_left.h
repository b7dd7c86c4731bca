/* worktree_left - finds and prints files of a worktree that are in no commit. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/err.h"

/* git's settings and index may come from an agent: they hide no file here. */

/* Returns the changed and untracked files, as git status --porcelain prints them; heap. NULL: git
 * failed. */
char *worktree_status(const char *place) MUST_USE;
/* Prints the files that git status leaves out and that would be lost with the directory: ignored
 * files, and files that git was told to skip. */
void worktree_show_unseen(const char *place);
/* Prints the first lines of the text, escaped and indented. */
void worktree_show_lines(const char *text);
