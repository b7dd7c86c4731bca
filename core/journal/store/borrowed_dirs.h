/* borrowed_dirs - directories whose mode a running rollback has changed, and their old modes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct journal;
struct object;

/*
 * While a directory has borrowed mode bits, the rollback goes on to older steps and captures the
 * modes that it replaces. It must capture the mode without the borrowed bits, or a later redo would
 * restore a mode that was never set.
 * Life: borrowed_add() -> borrowed_drop() when the mode is set or the directory is removed,
 * borrowed_clear() at the end. Used by the thread that rolls back.
 */
void borrowed_add(struct journal *j, const struct object *o); /* with its mode before */
void borrowed_drop(struct journal *j, const struct object *o);
void borrowed_clear(struct journal *j);
