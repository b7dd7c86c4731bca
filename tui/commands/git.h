/* git - runs the user's git, outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/err.h"

/*
 * By the rules of core/base/external.h, without replaced objects (git-replace(1)), grafts and
 * commit graphs. dir: git's working directory; words: the arguments after "git -C DIR", ended by
 * NULL, GIT_WORDS_MAX at most. Threads: one.
 */
#define GIT_WORDS_MAX 16
#define GIT_OUT_MAX   ((size_t)1 << 20) /* of git's output, for git_text() */
#define GIT(...)      ((const char *const[]){__VA_ARGS__, NULL})
#define GIT_INDEX_MAX ((size_t)1 << 30) /* of the list of an index, for git_output() */
#define GIT_INDEX     "GIT_INDEX_FILE"	/* git works on the index of that path */

/* Returns git's exit status. It has the terminal. */
int git_run(const char *dir, const char *const *words, struct err *err) MUST_USE;
/* The same without the terminal: prints git's output escaped, as it names an agent's files and
 * branches. */
int git_shown(const char *dir, const char *const *words, struct err *err) MUST_USE;
/* Returns git's output, heap, with a NUL behind its *len bytes; NULL: git failed, or prints more
 * than max. in: a descriptor that it reads, or EXTERNAL_NULL. */
char *git_output(const char *dir, const char *const *words, int in, size_t max, size_t *len)
	MUST_USE;
/* The same, at most GIT_OUT_MAX, as a text without the last newline. */
char *git_text(const char *dir, const char *const *words) MUST_USE;
/* Makes a directory that no agent reaches, for this process's one index, and removes such
 * directories of killed processes. Heap; NULL: err says why. */
char *git_scratch(const char *state_dir, struct err *err) MUST_USE;
/* Returns a descriptor for git_output(): a file in memory that holds the bytes. */
int git_input(const void *data, size_t len) MUST_USE;
/* Checks that the index of $GIT_INDEX_FILE has the files of a commit. git does not compare trees
 * that it reads with their names, and an agent may have written other bytes there. scratch: a
 * directory that no agent reaches. -EIO: the index has other files. */
int git_check_index(const char *dir, const char *commit, const char *scratch, struct err *err)
	MUST_USE;
/* The same for a new index that git reads from the commit. */
int git_check_commit(const char *dir, const char *commit, struct err *err) MUST_USE;
