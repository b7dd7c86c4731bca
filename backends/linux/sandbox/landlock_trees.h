/* landlock_trees - Landlock rules that together say "everything but these places". */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "backends/linux/sandbox/landlock.h"

/*
 * A Landlock rule holds for a directory and all below it, and no rule takes anything back. So
 * "everything but ~/.ssh" becomes rules for what lies beside the way there: the entries of "/" but
 * home, of /home but u, of /home/u but .ssh. The directories on the way have no rule of their own:
 * they cannot be listed without the keeper, and what is made in them later has none either. Both
 * are the door's to open (calls_read.c).
 *
 * Where every open is trapped (dynamic mode without FUSE; the landlock backend) domain A handles
 * reading and running too. The door looks once at where an open leads (read_check.c). Where A says
 * yes the call continues, whatever the caller's memory holds by then. The rest the door opens
 * itself in the sandbox's view, asks folder_read() about that object's path, and hands over that
 * descriptor. The kernel opens programs: one that was not granted at the start is not run.
 */
struct trees {
	struct landlock_tree *list; /* by path, no path twice, once trees_sort() was called */
	size_t n, cap;
	char **ways; /* those directories */
	size_t n_ways, cap_ways;
};

#define TREES_MAX 16384 /* rules; what is beyond them goes through the door */

/*
 * Add rules that give rights (LANDLOCK_*) to all but what lies in or beneath a closed place; what
 * lies in or beneath an open one that is nearer gets them all the same. A place in both lists is
 * closed. Paths absolute, clean and resolved; lists end with NULL or are NULL. Uses the heap.
 */
void trees_add(struct trees *t, unsigned rights, const char *const *closed,
	       const char *const *open);
/* One place, whether it exists or not. */
void trees_add_one(struct trees *t, unsigned rights, const char *path);
void trees_sort(struct trees *t);
/*
 * What the rules give at this path, which is absolute, clean and resolved. Sorted trees only. root:
 * where the paths begin now. A directory that was made anew under its old name in a working folder
 * has no rule. Below 0: as it was at the start. known: the directory that was looked at last and
 * was the rule's, for the caller to clear when that may have changed; or NULL.
 */
unsigned trees_rights(const struct trees *t, const char *path, int root,
		      const struct landlock_tree **known);
/* A directory on the way to a closed place. */
bool trees_is_way(const struct trees *t, const char *path);
void trees_done(struct trees *t);
