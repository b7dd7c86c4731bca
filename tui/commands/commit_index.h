/* commit_index - a git index with the files of HEAD and the files to commit. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/kept.h"

/*
 * The index is a file of cordon's own, in a directory that agents cannot reach, so that exactly the
 * files that were shown are committed. While it is open, git in this process's children uses it
 * ($GIT_INDEX_FILE). The .gitattributes of the commit choose filters (clean, smudge, line ends),
 * never those in the folder: git gets a worktree without other files. The user's configuration
 * names the filters' programs.
 *
 * Life:    commit_index_open() -> commit_index_close(), also after a failure.
 * Threads: one: it changes the environment.
 */
struct commit_index {
	char *folder;
	char *prefix; /* of the folder in the worktree: "" or "sub/" */
	char *git_dir;
	char *head; /* NULL: no commit yet; commit_index_renew() sets the new one */
	char *dir, *tree;
	struct buf staged; /* lines for update-index of all staged files */
	struct buf theirs; /* names staged in the user's index before, each with its NUL */
};

/* Opens an index. -EBUSY: a merge or similar operation is in progress. */
int commit_index_open(struct commit_index *x, const char *folder, const char *state_dir,
		      struct err *err) MUST_USE;
void commit_index_close(struct commit_index *x);
/* A kept_base: returns the file in HEAD. data: the struct commit_index. */
int commit_index_base(void *data, const char *path, struct kept_side *ret, struct err *err)
	MUST_USE;
/* Stages the files that differ from their base, and counts them in *n. A new file that git ignores
 * gets its base back, and counts as left out. */
int commit_index_stage(struct commit_index *x, struct kept *k, size_t *n, struct err *err) MUST_USE;
/* Updates the user's own index, except files that are staged there. Called before the commit, so
 * that no file looks reverted if this process dies, and after it, for changes by hooks. */
int commit_index_share(struct commit_index *x, struct err *err) MUST_USE;
int commit_index_renew(struct commit_index *x, struct err *err) MUST_USE;
