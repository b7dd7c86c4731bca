/* rename_tree - directories that move, and where each of them hung at what moment. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"

/*
 * Moment 0 is before all of them; each move makes the next one. What is asked for takes as long as
 * the path is deep, however many moves there were.
 * Life: a zeroed struct is empty -> homes_done().
 */
struct homes {
	uint32_t now;
	struct names names; /* number i: that of hooks[i] */
	struct hook *hooks;
	struct hung *dirs; /* number 0 has the roots as its names */
	uint32_t n_dirs, cap_hooks, cap_dirs;
};

/* Both: they change places; else what was named below the target before stays, among the rest. */
void homes_move(struct homes *h, int root, const char *from, int root2, const char *to, bool both);
/* A path at one moment: what it is called at another, not earlier one. Only what lies below a
 * directory moves with it. *path is a heap string. */
void homes_follow(const struct homes *h, uint32_t since, uint32_t until, int *root, char **path);
/* Marks on a name, "<root>/path": what lies below a directory moves with it. */
unsigned homes_mark(struct homes *h, const char *key, unsigned marks); /* those that it had */
unsigned homes_marks(const struct homes *h, const char *key);
void homes_each(const struct homes *h, void (*fn)(void *data, const char *key, unsigned marks),
		void *data); /* each name that has some, as it is called now */
void homes_done(struct homes *h);
