/* redo_stack - removes undone steps that can no longer be redone. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

struct journal;

/* Removes all undone steps of this store, the newest first: a new step was committed. If a process
 * dies meanwhile, the next start goes on (rollback/redo_drop.c). */
int redo_drop_all(struct journal *j) MUST_USE;

/* Moves an undone step to trash/. Its after-images stay. */
int redo_drop_undone(struct journal *j, const char *dir) MUST_USE;
