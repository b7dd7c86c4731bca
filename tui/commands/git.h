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
#define GIT_OUT_MAX   ((size_t)1 << 20) /* git's most output, for git_text() */
#define GIT(...)      ((const char *const[]){__VA_ARGS__, NULL})
#define GIT_INDEX_MAX ((size_t)1 << 30) /* most bytes of an index's list, for git_output() */
#define GIT_INDEX     "GIT_INDEX_FILE"	/* variable with the path of the index that git uses */

/* Runs git on the terminal. Returns its exit status. */
int git_run(const char *dir, const char *const *words, struct err *err) MUST_USE;
/* Like git_run(), but without the terminal: prints git's output escaped, because it contains names
 * of an agent's files and branches. */
int git_shown(const char *dir, const char *const *words, struct err *err) MUST_USE;
/* Returns git's output, heap, with a NUL behind its *len bytes; NULL if git failed, or printed more
 * than max. in: its standard input, or EXTERNAL_NULL. */
char *git_output(const char *dir, const char *const *words, int in, size_t max, size_t *len)
	MUST_USE;
/* Like git_output(), up to GIT_OUT_MAX, as a text without the last newline. */
char *git_text(const char *dir, const char *const *words) MUST_USE;
/* Makes a directory that agents cannot reach, for this process's one index, and removes such
 * directories of killed processes. Heap; NULL: err is set. */
char *git_scratch(const char *state_dir, struct err *err) MUST_USE;
/* Returns a descriptor of a memory file with these bytes, for git_output(). */
int git_input(const void *data, size_t len) MUST_USE;
/* Checks that the index of $GIT_INDEX_FILE has the files of a commit: git does not verify the IDs
 * of trees that it reads, and an agent may have written other bytes there. scratch: a directory
 * that agents cannot reach. -EIO: the index has other files. */
int git_check_index(const char *dir, const char *commit, const char *scratch, struct err *err)
	MUST_USE;
/* Like git_check_index(), for a new index that git reads from the commit. */
int git_check_commit(const char *dir, const char *commit, struct err *err) MUST_USE;
