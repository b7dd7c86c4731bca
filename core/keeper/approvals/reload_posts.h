/* reload_posts - tells when one of some files has changed, has come or has gone. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * In doubt a file has changed: whoever asks reads it and compares. The descriptor is readable when
 * something happened; it may be of none of the files, and stays open after posts_free(), for
 * keeper_close_late().
 *
 * Life:    posts_open() -> posts_read() -> posts_free().
 * Threads: one owner.
 */
#define FILES_MAX 8 /* those behind are not waited for */

struct posts;

/* Takes the list, absolute paths, NULL-terminated. NULL: the system lets no more be watched. */
struct posts *posts_open(char **files);
int posts_fd(const struct posts *p);
/* Takes all that has happened so far: one of the files may have changed. */
bool posts_read(struct posts *p);
void posts_free(struct posts *p); /* NULL is a no-op */
