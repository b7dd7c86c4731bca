/* rename_tree - the tree of renamed directories at any moment. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"

/*
 * Moment 0 is before all renames; each rename begins the next moment. A look-up takes time in
 * proportion to the depth of the path, not to the number of renames.
 * Life: a zeroed struct is empty -> homes_done().
 */
struct homes {
	uint32_t now;
	struct names names; /* number i: that of hooks[i] */
	struct hook *hooks;
	struct hung *dirs; /* number 0 has the roots as its names */
	uint32_t n_dirs, cap_hooks, cap_dirs;
};

/* both: the two directories change places. Otherwise names that existed below the target remain,
 * beside those that arrive. */
void homes_move(struct homes *h, int root, const char *from, int root2, const char *to, bool both);
/* Translates a path from moment `since` to the later moment `until`. Only paths below a renamed
 * directory change. *path is a heap string. */
void homes_follow(const struct homes *h, uint32_t since, uint32_t until, int *root, char **path);
/* Marks on a name, "<root>/path": what lies below a directory moves with it. */
unsigned homes_mark(struct homes *h, const char *key, unsigned marks); /* those that it had */
unsigned homes_marks(const struct homes *h, const char *key);
void homes_each(const struct homes *h, void (*fn)(void *data, const char *key, unsigned marks),
		void *data); /* each name that has some, as it is called now */
void homes_done(struct homes *h);
