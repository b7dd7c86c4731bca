/* lines - a tree's text line by line, one object each. */
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
const char *field(const char *line, int n); /* the n-th field and all after it */
bool is_dir(const char *line);
/* Returns whether the line is in a directory that may be read but not searched: a name without
 * facts. */
bool is_unseen(const char *line);
bool is_shut(const char *line); /* a directory that we may not list */
/* Returns whether the path is such a name, or below one or below a directory that we may not list:
 * unknown content. */
bool hides(const struct lines *l, const char *path, size_t len);
bool alike_but_time(const char *a, const char *b); /* of one path */
/* Compares without times of directories. NULL: missing. */
bool alike(const char *a, const char *b);
char *bare(const char *line); /* without its other name, which comes before the attributes */
/* Returns whether b differs from a by no external work: a file that was only touched, or lost
 * another name, does not count. */
bool same_work(const char *a, const char *b);
/* Returns whether the path has several names. */
bool has_link(const struct lines *l, const char *path, size_t len);
/* Returns whether the tree has a directory that its owner may not search: no step lists its
 * content. */
bool locks_a_dir(const struct lines *l);
