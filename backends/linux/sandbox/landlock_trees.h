/* landlock_trees - Landlock rules that together say "everything but these places". */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "backends/linux/sandbox/landlock.h"

/*
 * A Landlock rule holds for a directory and all below it, and no rule takes rights back. So
 * "everything but ~/.ssh" becomes rules for the siblings of each directory on the way: the entries
 * of "/" but home, of /home but u, of /home/u but .ssh. The directories on the way have no rule of
 * their own: a program cannot list them by itself, nor open files that are made in them later. The
 * door opens both (calls_read.c).
 *
 * Where every open is trapped (dynamic mode without FUSE; the landlock backend) domain A handles
 * reading and running too. The door resolves the path of an open once (read_check.c). If A allows
 * the file, the call continues; should the caller change the path in its memory, A still decides.
 * Any other file the door opens itself in the sandbox's view, asks folder_read() about the path of
 * the opened object, and hands over that descriptor. The kernel itself opens programs: a program
 * that was not granted at the start does not run.
 */
struct trees {
	struct landlock_tree *list; /* by path, no path twice, once trees_sort() was called */
	size_t n, cap;
	char **ways; /* directories on the way to a closed place */
	size_t n_ways, cap_ways;
};

#define TREES_MAX 16384 /* rules; opens in trees beyond them go through the door */

/*
 * Adds rules that give rights (LANDLOCK_*) to the whole tree but the closed places and their
 * content. The nearest listed ancestor decides: an open place beneath a closed one gets the rights.
 * A place in both lists is closed. Paths absolute, clean and resolved; lists end with NULL or are
 * NULL. Heap.
 */
void trees_add(struct trees *t, unsigned rights, const char *const *closed,
	       const char *const *open);
/* Adds a rule for one path, whether it exists or not. */
void trees_add_one(struct trees *t, unsigned rights, const char *path);
void trees_sort(struct trees *t);
/*
 * Returns the rights that the rules give at this path, which is absolute, clean and resolved.
 * Sorted trees only. root: descriptor of "/". A rule counts only if its path still leads to the
 * same inode: a directory that was removed and made anew has no rule. Below 0: every rule counts.
 * known: cache of the last directory rule that was verified, or NULL; the caller clears it when the
 * tree may have changed.
 */
unsigned trees_rights(const struct trees *t, const char *path, int root,
		      const struct landlock_tree **known);
/* Returns whether the path is a directory on the way to a closed place. */
bool trees_is_way(const struct trees *t, const char *path);
void trees_done(struct trees *t);
