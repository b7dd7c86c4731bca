/* net_changes - the net changes of a step: each path before and after, renames found by inode. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"

struct net {
	const char *key; /* that it is listed under */
	uint32_t touch;	 /* number of the path */
	uint32_t source; /* number of the path that it was renamed from, + 1; 0: it was not */
};

/* Borrows the touches. Life: a zeroed struct is empty -> nets_done(). */
struct nets {
	const struct touches *of;
	struct net *list; /* sorted by path */
	size_t n;
	bool unseen;   /* some path could not be looked at: of that nothing is told */
	bool locked;   /* some path lies in a directory that its owner may not search */
	bool inverted; /* the way from after to before */
};

/* Looks at every path (touches_set_after()) and keeps those that differ. known may be NULL; of a
 * file in there with a hash, the bytes are compared. */
int nets_build(struct journal *j, struct touches *of, const struct known_set *known, bool inverted,
	       struct nets *ret) MUST_USE;
void nets_get(const struct nets *n, size_t i, struct change *ret); /* borrows the paths */
/* A name that carried a save (path_saved_as()) and went counts with the file that it carried. */
void nets_count(const struct nets *n, struct step_info *ret);
bool nets_elsewhere(const struct nets *n); /* something, and all of it in granted places */
void nets_done(struct nets *n);
