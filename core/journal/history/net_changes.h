/* net_changes - the net changes of a step: each path before and after, renames found by inode. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct change;
struct change_side;
struct journal;
struct object;
struct touched_inodes;
struct step_info;
struct touched_paths;

struct net {
	const char *key; /* by which it is sorted */
	uint32_t touch;	 /* number of the path */
	uint32_t source; /* number + 1 of the path that it was renamed from; 0: not renamed */
};

/* Borrows the touches. Life: a zeroed struct is empty -> nets_done(). */
struct nets {
	const struct touched_paths *of;
	struct net *list; /* sorted by path */
	size_t n;
	bool unseen;   /* some path could not be read; it is not listed */
	bool locked;   /* some path lies in a directory that its owner may not search */
	bool inverted; /* changes from after to before */
};

/* Reads every path (touched_paths_set_after()) and lists the paths that differ. known may be NULL;
 * the bytes of a file that has a hash there are compared, too. */
int nets_build(struct journal *j, struct touched_paths *of, const struct touched_inodes *known,
	       bool inverted, struct nets *ret) MUST_USE;
void nets_get(const struct nets *n, size_t i, struct change *ret); /* borrows the paths */
/* Counts the changes by kind. A removed temporary name of a save (path_saved_as()) does not count:
 * the saved file does. */
void nets_count(const struct nets *n, struct step_info *ret);
/* Returns whether there are changes, all in granted places. */
bool nets_elsewhere(const struct nets *n, const struct journal *j);
void nets_done(struct nets *n);

void change_side_set(struct change_side *c, const struct object *o);
bool change_sides_equal(const struct change_side *a, const struct change_side *b);
