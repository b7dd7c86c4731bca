/* reload_posts - reports that one of several files was changed, created or removed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Reports may be false: the caller reads the files and compares. The descriptor becomes readable at
 * an event, which may concern none of the files. It stays open after posts_free(), for
 * keeper_close_late().
 *
 * Life:    posts_open() -> posts_read() -> posts_free().
 * Threads: one owner.
 */
#define FILES_MAX 8 /* further files of the list are not watched */

struct posts;

/* Takes the list of absolute paths, NULL-terminated. Returns NULL if the system allows no more
 * watches. */
struct posts *posts_open(char **files);
int posts_fd(const struct posts *p);
/* Reads all pending events. Returns whether one of the files may have changed. */
bool posts_read(struct posts *p);
void posts_free(struct posts *p); /* NULL is a no-op */
