/* touched_paths - the paths that a step touched, with their state before and after it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

struct packed_object;
struct object;

struct touched_path {
	uint32_t before, after; /* indexes + 1 in looks; 0: the path did not exist */
	bool foreign;		/* edited externally while the step ran */
	bool attrs_set;		/* its metadata was changed, not only its content or entries */
	/* Changed by the steps' processes themselves: their changes and external edits cannot be
	 * told apart while the step runs. */
	bool foreseen;
};

/*
 * If a directory is renamed, the touched paths below it are touched under their new names, too.
 * After several renames only the last of those names is on the list, once touched_paths_settle() or
 * touched_paths_find() is called: the others existed neither before the step nor after it. Blocks
 * are not kept, and of nlink only whether it is above 1.
 * Life: a zeroed struct is empty -> touched_paths_done(). A number stays valid, a pointer until the
 * next touched_paths_add().
 */
struct touched_paths {
	struct path_set keys; /* number i: that of list[i] */
	struct touched_path *list;
	size_t cap;
	struct packed_object *looks;
	uint32_t n_looks, cap_looks;
	/* Once a directory was renamed: all keys by their present names. */
	struct rename_tree places;
};

static inline size_t touched_paths_count(const struct touched_paths *t)
{
	return path_set_count(&t->keys);
}
static inline const char *touched_paths_key(const struct touched_paths *t, size_t i)
{
	return path_set_key(&t->keys, i);
}
struct touched_path *touched_paths_find(struct touched_paths *t, const char *key); /* or NULL */
/* Returns false, and changes nothing, if the key is there already. */
bool touched_paths_add(struct touched_paths *t, const char *key, const struct object *before);
void touched_paths_attrs(struct touched_paths *t, const char *key);
/* Notes that the path was edited externally. Returns false if it is not on the list. */
bool touched_paths_edited(struct touched_paths *t, const char *key);
/* both: the two objects changed places. */
void touched_paths_move(struct touched_paths *t, int root, const char *from, int root2,
			const char *to, bool both);
void touched_paths_settle(struct touched_paths *t);
void touched_paths_set_after(struct touched_paths *t, size_t i, const struct object *after);
void touched_path_before(const struct touched_paths *t, const struct touched_path *one,
			 struct object *ret);
void touched_path_after(const struct touched_paths *t, const struct touched_path *one,
			struct object *ret);
void touched_paths_done(struct touched_paths *t);
