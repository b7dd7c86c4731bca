/* lines - a tree's text line by line: one object each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A line is "path mode owner mtime ..."; see tests/support/tree.h. Borrowed from `text`. */
struct lines {
	char *text;
	char **list;
	size_t n;
};

struct lines split(const char *tree);
void lines_done(struct lines *l);
const char *line_of(const struct lines *l, const char *path, size_t len); /* or NULL */
size_t path_len(const char *line);
const char *field(const char *line, int n); /* the n-th and all behind it */
bool is_dir(const char *line);
/* In a directory that may be read and not searched: a name, and nobody knows of what. */
bool is_unseen(const char *line);
bool is_shut(const char *line); /* a directory: we may not list what it holds */
/* Such a name, or below one or a directory that we may not list: whatever is there, it is not told.
 */
bool hides(const struct lines *l, const char *path, size_t len);
bool alike_but_time(const char *a, const char *b); /* of one path */
/* Times of directories do not count. NULL: it is not there. */
bool alike(const char *a, const char *b);
char *bare(const char *line); /* without its other name, which stands before the attributes */
/* Is what b says nobody's work but a's? A file that was only touched, or lost another name, has
 * been changed by nobody. */
bool same_work(const char *a, const char *b);
/* Has it more names than one there? */
bool has_link(const struct lines *l, const char *path, size_t len);
/* A directory that its owner may not search: what lies in it is told by no step. */
bool locks_a_dir(const struct lines *l);
