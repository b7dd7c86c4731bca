/* list - lists the committed and undone steps, and the changes of each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct change;
struct journal;

int64_t history_step_ended(const struct journal *j, const char *dir); /* wall clock; 0: unknown */
/* Returns step_is_note() for a kept step that is complete. */
bool history_dir_is_note(const struct journal *j, const char *dir);
/* Returns whether r, a result of reading a step's files, means that the step is damaged. */
bool history_step_is_damaged(int r);
/* Says in err why a step's files cannot be read, and what to do. -EBADMSG: the step is damaged, or
 * a file is missing. */
int history_step_unread(struct err *err, int r, const char *id);
/* Returns whether the step's directory was removed or moved meanwhile. */
bool history_step_is_gone(const struct journal *j, const char *dir);
/* Reads a step's changes from one store; journal_changes() reads those of all stores of the
 * session. */
int history_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err) MUST_USE;
int history_find(struct journal *j, int64_t id, bool *undone, struct err *err) MUST_USE;
/* Returns whether the step still exists, after a reader's error; else the writer removed it
 * meanwhile, and err says so. */
bool history_has(struct journal *j, int64_t id, struct err *err);
