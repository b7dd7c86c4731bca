/* saved_redo - undone steps whose redo a later change has ended, kept as they hold what a human
 * wrote.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/store/store.h"

struct txn;
struct mover;

/*
 * A rollback notes in each of its steps' directories which paths a human had edited that it
 * replaced (--force). The repair after a crash notes that this is not known. Once such a step can
 * be redone no more, it goes to saved/<number of the rollback>/<id>, in place of trash/.
 * A redo takes the note away. The oldest go when there are more than SAVED_REDO_MOST, or when they
 * hold more than a quarter of journal.size; the newest one always stays.
 */
#define SAVED_REDO_MOST 20

/* The step is about to arrive. */
int saved_redo_mark(const struct txn *t, const struct mover *m) MUST_USE;
bool saved_redo_is_marked(const struct journal *j, const char *dir);
int saved_redo_take(struct journal *j, const char *dir) MUST_USE;
