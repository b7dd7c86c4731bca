/* saved_redo - keeps steps that can no longer be redone but hold bytes that nothing else has. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/base/util.h"

struct journal;
struct path_set;
struct undo_log;

/*
 * A rollback notes in each of its steps' directories the user's edits that it replaced (--force),
 * and the files that it left as the user has them (--keep-mine), if the step holds their content
 * from before it. The recovery after a crash notes that such edits are unknown. When such a step
 * becomes unredoable, it is moved to saved/<number of the rollback>/<id> instead of trash/. A redo
 * removes the note. Versions that a step overwrote are there as well, see overwritten.h. The oldest
 * are removed when there are more than SAVED_REDO_MOST, or when they hold more than a quarter of
 * journal.size; the newest one always stays.
 */
#define SAVED_REDO_MOST 20

/* Notes the edited paths that the step's rollback replaced, and those that its redo log left out;
 * unknown: there may be others. */
int saved_redo_mark(struct journal *j, int stepdir, const struct undo_log *redo,
		    const struct path_set *replaced, bool unknown) MUST_USE;
int saved_redo_unmark(int stepdir) MUST_USE;
bool saved_redo_is_marked(const struct journal *j, const char *dir);
int saved_redo_take(struct journal *j, const char *dir) MUST_USE;
/* Removes the oldest, beyond the limits. */
void saved_redo_fit(struct journal *j);
