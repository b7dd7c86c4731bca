/* git_words - describes the changes of a step in a git directory: branches, stash, index. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/*
 *	main: f918ed4 -> fca8856, 1 commit taken back
 *	HEAD: main -> feature
 *	stash dropped: WIP on main: f918ed4 parser
 *	index: 3 files staged
 *
 * Sources: refs, reflogs and index, before and after the step, from the undo store. They are text,
 *          and an index is read by core/base/git_index.h, which allocates nothing and checks each
 *          read. No object is opened, and libgit2 has no part in it.
 * Safety:  names and messages are the agent's bytes: escape them before a user sees them. Numbers
 *          of commits are those of the reflog.
 * Threads: as journal_content(): a worker with a journal handle of its own.
 */
#define GIT_WORDS_MAX 8

struct git_words {
	char *list[GIT_WORDS_MAX]; /* heap; the last one may be the number of further changes */
	size_t n, more;
};

/* Adds words for the changes of one step. */
void git_words_add(struct git_words *w, struct journal *j, int64_t step, const struct change *list,
		   size_t n);
/* Adds words for each step of the range, oldest first, as in diff_range_paths(). newest: for the
 * newest step only. Removed steps add none. */
void git_words_range(struct git_words *w, struct journal *j, int64_t from, int64_t to, bool newest);
void git_words_done(struct git_words *w);
