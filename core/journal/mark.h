/* mark - restore points: names for moments of the history, which pruning keeps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct err;
struct journal;

/*
 * A mark names the moment after the newest kept step. Steps that are undone at that moment are
 * older than the mark; a step that still runs is newer. Pruning keeps every step that is newer than
 * the oldest mark, so that undo can get back to it.
 * Threads: any handle of the folder, also a read-only one, even while another process has the
 * folder.
 */
#define MARKS_MAX     64
#define MARK_NAME_MAX 100 /* bytes: no control characters */

struct mark {
	char *name;
	int64_t after; /* the number of the newest step that had begun */
	int64_t us;
};

/* Lists the marks, oldest first. */
int journal_marks(struct journal *j, struct mark **ret, size_t *ret_n, struct err *err) MUST_USE;
void marks_free(struct mark *list, size_t n);
/* Returns the mark of that name, or NULL. */
const struct mark *mark_find(const struct mark *list, size_t n, const char *name);
/* Adds a mark. -EEXIST: the name is taken; -EINVAL: it is not allowed; -E2BIG: there are
 * MARKS_MAX. */
int journal_mark(struct journal *j, const char *name, struct err *err) MUST_USE;
/* Removes a mark. Returns 0, or -ENOENT. */
int journal_unmark(struct journal *j, const char *name, struct err *err) MUST_USE;
/* Returns the number above which pruning keeps all steps; INT64_MAX if there is no mark. */
int64_t journal_marked(const struct journal *j);
