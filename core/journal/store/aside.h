/* aside - histories that are put aside in a store, because they are of another directory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;

#define ASIDE_DIR "aside"

/*
 * STORE/aside/N/ holds the files of one history; the newest has the highest N. The files are
 * renamed one by one, "version" and then "folder" last. A directory without "version" was begun by
 * a process that died, and the next call continues in it.
 */

/* Puts the store's history aside, so that the folder begins a new one, and removes the oldest
 * histories that were put aside. An empty history (aside_is_empty()) is removed instead, unless
 * even_empty. *ret (may be NULL): its number, or 0 if it was removed. The caller has the store's
 * lock. */
int aside_put(struct journal *j, bool even_empty, uint64_t *ret, struct err *err) MUST_USE;
/* Makes number n the history of the folder: "version" then names `folder`, and "folder" has
 * `identity`. The store must have no history of its own. */
int aside_take(struct journal *j, uint64_t n, const char *folder, const char *identity,
	       struct err *err) MUST_USE;
/* Renames the directory at this path to the next number. */
int aside_bring(struct journal *j, const char *path, uint64_t *ret, struct err *err) MUST_USE;
/* Returns whether the store holds nothing to undo, redo or finish. */
bool aside_is_empty(int store);
