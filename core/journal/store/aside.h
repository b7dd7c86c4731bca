/* aside - histories that are put aside in a store, because they are of another directory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;

#define ASIDE_DIR "aside"

/*
 * STORE/aside/N/ holds the files of one history, the newest has the highest N. They are renamed one
 * by one, "version" and then "folder" last: a directory there without "version" was begun by a
 * process that died, and the next call continues in it.
 */

/* Moves the history out of the way, so that the folder begins a new one. A history without a step
 * is dropped. *ret (may be NULL): its number, or 0 if it was dropped. Removes the oldest of those
 * that are aside. The caller has the store's lock. */
int aside_put(struct journal *j, bool even_empty, uint64_t *ret, struct err *err) MUST_USE;
/* Makes number n the history of the folder: "version" names `folder` afterwards, "folder" has
 * `identity`. The store has no history of its own when this is called. */
int aside_take(struct journal *j, uint64_t n, const char *folder, const char *identity,
	       struct err *err) MUST_USE;
/* Renames the directory at this path to the next number. */
int aside_bring(struct journal *j, const char *path, uint64_t *ret, struct err *err) MUST_USE;
/* Returns whether nothing in it could be undone, redone or finished. */
bool aside_is_empty(int store);
