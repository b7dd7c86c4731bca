/* touched_paths - the paths that a step touched, with their state before and after it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/history/rename_tree.h"

struct touch {
	uint32_t before, after; /* numbers + 1 in looks; 0: nothing was there */
	bool foreign;		/* somebody else changed it while the step ran */
	bool attrs_set;		/* its metadata was changed, not only what it holds */
	bool foreseen;		/* changed by the steps' processes themselves: nobody can tell
				 * their changes from others' while the step runs */
};

/*
 * If a directory is renamed, the touched paths below it are touched under their new names, too.
 * After several renames only the last of those names is on the list, once touches_settle() or
 * touches_find() is called: the others existed neither before the step nor after it.
 * Life: a zeroed struct is empty -> touches_done(). A number stays valid, a pointer until the next
 * touches_add(). Blocks and, but for "more than one", links are not kept.
 */
struct touches {
	struct names keys; /* number i: that of list[i] */
	struct touch *list;
	size_t cap;
	struct look *looks;
	uint32_t n_looks, cap_looks;
	struct rename_tree places; /* once a directory has moved: all of them, where they are now */
};

static inline size_t touches_count(const struct touches *t)
{
	return names_count(&t->keys);
}
static inline const char *touches_key(const struct touches *t, size_t i)
{
	return names_key(&t->keys, i);
}
struct touch *touches_find(struct touches *t, const char *key); /* or NULL */
/* False: it is there already, and stays as it is. */
bool touches_add(struct touches *t, const char *key, const struct obj *before);
void touches_attrs(struct touches *t, const char *key);
/* Both: they changed places. */
void touches_move(struct touches *t, int root, const char *from, int root2, const char *to,
		  bool both);
void touches_settle(struct touches *t);
void touches_set_after(struct touches *t, size_t i, const struct obj *after);
void touch_before(const struct touches *t, const struct touch *one, struct obj *ret);
void touch_after(const struct touches *t, const struct touch *one, struct obj *ret);
void touches_done(struct touches *t);
