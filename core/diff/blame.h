/* blame - finds the step that wrote each line of a file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/diff.h"

/*
 * The file is followed from the present back through the steps that changed it, under the names
 * that it had. A line that a step's after-state has and its before-state has not is the step's. A
 * line that a state has and the older step's after-state has not came from outside, between the
 * two. Lines that reach the oldest step's before-state are older than the history.
 *
 * Life:    blame_file() -> blame_done(), also after a failure.
 * Threads: a worker may run it on a journal handle of its own.
 * Limits:  text up to DIFF_MAX_BYTES. Of steps that ran at the same time, and changed the same
 *          file, the newer one may get lines of the other.
 */
enum blame_by {
	BLAME_BEFORE, /* older than the first step that changed the file */
	BLAME_STEP,
	BLAME_OUTSIDE, /* an edit from outside the sandbox */
};

struct blame_line {
	enum blame_by by;
	/* BLAME_STEP: the step; BLAME_OUTSIDE: the newest step before the edit; BLAME_BEFORE: the
	 * first step that changed the file. 0: there is none. */
	int64_t step;
	/* BLAME_STEP: may also be an external edit, as the content between the two is not kept.
	 * BLAME_BEFORE: may be newer, as the history lacks steps, or has some older than the file's
	 * modification time. */
	bool unsure;
	struct span text; /* without the newline; raw bytes */
};

struct blame {
	struct blame_line *lines;
	size_t n;
	char *text;
};

/*
 * path: relative to j's folder; list: of journal_list(j, false). Returns -ENOENT: there is no such
 * file; err names the step that removed or renamed it. -EINVAL: it is not a file, is binary, or is
 * too large.
 */
int blame_file(struct journal *j, const char *path, const struct step_info *list, size_t n,
	       struct blame *ret, struct err *err) MUST_USE;
void blame_done(struct blame *b);
