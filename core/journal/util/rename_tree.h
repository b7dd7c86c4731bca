/* rename_tree - the tree of renamed directories at any moment. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"

/*
 * Moment 0 is before all renames; each rename begins the next moment. A look-up takes time in
 * proportion to the depth of the path, not to the number of renames.
 * Life: a zeroed struct is empty -> rename_tree_done().
 */
struct rename_tree {
	uint32_t now;
	struct path_set names; /* number i: that of hooks[i] */
	struct hook *hooks;
	struct hung *dirs; /* number 0 has the roots as its names */
	uint32_t n_dirs, cap_hooks, cap_dirs;
};

/* Moves a directory. both: the two directories change places; otherwise names that existed below
 * the target remain, beside the moved ones. */
void rename_tree_move(struct rename_tree *h, int root, const char *from, int root2, const char *to,
		      bool both);
/* Translates a path from moment `since` to the later moment `until`. Only paths below a renamed
 * directory change. *path is a heap string. */
void rename_tree_follow(const struct rename_tree *h, uint32_t since, uint32_t until, int *root,
			char **path);
/* Adds marks to a name, "<root>/path". Marks below a directory move with it. Returns the marks that
 * the name had before. */
unsigned rename_tree_mark(struct rename_tree *h, const char *key, unsigned marks);
unsigned rename_tree_marks(const struct rename_tree *h, const char *key);
/* Calls fn for each name that has marks, by its present name. */
void rename_tree_each(const struct rename_tree *h,
		      void (*fn)(void *data, const char *key, unsigned marks), void *data);
void rename_tree_done(struct rename_tree *h);
