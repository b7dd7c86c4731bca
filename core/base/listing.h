/* listing - the names in a directory, to find out without system calls that files are missing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/base/util.h"

/*
 * A start searches for some hundred files in the home directory, and most do not exist. If the
 * listing lacks the first component of a path, the path does not exist. It is a snapshot: use it
 * only during a start. Names are compared without regard to case, as some file systems do.
 */
struct listing;

/* Lists dir. Returns NULL, for which no path is missing, if it is too large or unreadable. */
struct listing *listing_new(const char *dir) MUST_USE;
void listing_free(struct listing *l); /* NULL is a no-op */
/* Returns whether path is below the directory and its first name was missing there. */
bool listing_lacks(const struct listing *l, const char *path);
