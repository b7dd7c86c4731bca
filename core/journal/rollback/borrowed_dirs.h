/* borrowed_dirs - directories whose mode a running rollback has changed, and their old modes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct journal;
struct obj;

/*
 * The rollback goes on to older steps while a directory is open, and keeps what it replaces: that
 * must be the mode without what was lent, or a later redo would bring back one that nobody set.
 * Life: borrowed_add() -> borrowed_drop() where the mode is set or the directory goes,
 * borrowed_clear() at the end. By the thread that rolls back.
 */
void borrowed_add(struct journal *j, const struct obj *o); /* with the mode that it has had */
void borrowed_drop(struct journal *j, const struct obj *o);
void borrowed_clear(struct journal *j);
/* Of a directory that has this mode now. dev as in struct obj. */
mode_t borrowed_mode(const struct journal *j, uint64_t dev, uint64_t ino, mode_t mode);
