/* newest_toucher - finds the newest of several steps that touched a path or wrote to a file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"

struct journal;
struct renames;

/* Steps are numbered by their place in a list, newest first. */
struct touchers {
	struct path_set names;
	size_t *ends;	       /* number of names up to each place */
	struct writing *files; /* hash, by inode: the newest step that wrote to it in place */
};
/* Adds the names that a step touched; call it in the order of places. */
void touchers_note(struct touchers *h, size_t place, const struct path_set *names);
/* Adds a file that the step wrote to; in the same order. */
void touchers_wrote(struct touchers *h, size_t place, uint64_t ino);
/* Adds to ret those `names`, of the step at that place, that a newer step touched, too, or whose
 * directory one renamed. */
void touchers_find(const struct touchers *h, size_t place, const struct renames *moves,
		   const struct path_set *names, struct path_set *ret);
/* Returns whether a step newer than the one at that place wrote to the file. */
bool touchers_have_file(const struct touchers *h, size_t place, uint64_t ino);
void touchers_done(struct touchers *h);
