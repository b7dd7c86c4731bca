/* touched_paths - the paths that a step touched, with their state before and after it. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/util/grow.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

#include <stdlib.h>

enum { /* marks on renamed paths */
	PLACE_TOUCHED = 1,
	PLACE_ATTRS = 2,
	PLACE_EDITED = 4,
};

static const struct object nothing;

static uint32_t look_keep(struct touched_paths *t, uint32_t old, const struct object *o)
{
	struct packed_object *l;

	if (!o->mode)
		return 0;
	if (!old) {
		GROW(t->looks, t->cap_looks, t->n_looks);
		old = ++t->n_looks;
	}
	l = &t->looks[old - 1];
	object_pack(l, o);
	return old;
}

static void look_read(const struct touched_paths *t, uint32_t number, struct object *ret)
{
	*ret = (struct object){0};
	if (number)
		object_unpack(&t->looks[number - 1], ret);
}

static bool has_moved(const struct touched_paths *t)
{
	return t->places.n_dirs;
}

struct touched_path *touched_paths_find(struct touched_paths *t, const char *key)
{
	size_t i = path_set_find(&t->keys, key);

	if (i == PATH_SET_NONE && rename_tree_marks(&t->places, key)) {
		touched_paths_add(t, key, &nothing);
		i = path_set_find(&t->keys, key);
	}
	return i == PATH_SET_NONE ? NULL : &t->list[i];
}

bool touched_paths_add(struct touched_paths *t, const char *key, const struct object *before)
{
	unsigned came = has_moved(t) ? rename_tree_mark(&t->places, key, PLACE_TOUCHED) : 0;
	bool fresh;
	size_t i = path_set_put(&t->keys, key, &fresh);

	if (!fresh)
		return false;
	GROW(t->list, t->cap, i);
	t->list[i] = (struct touched_path){.before = look_keep(t, 0, came ? &nothing : before),
					   .foreign = came & PLACE_EDITED,
					   .attrs_set = came & PLACE_ATTRS};
	return !came;
}

void touched_paths_attrs(struct touched_paths *t, const char *key)
{
	struct touched_path *one = touched_paths_find(t, key);

	if (!one)
		return;
	one->attrs_set = true;
	if (has_moved(t))
		rename_tree_mark(&t->places, key, PLACE_TOUCHED | PLACE_ATTRS);
}

bool touched_paths_edited(struct touched_paths *t, const char *key)
{
	struct touched_path *one = touched_paths_find(t, key);

	if (!one)
		return false;
	one->foreign = true;
	if (has_moved(t))
		rename_tree_mark(&t->places, key, PLACE_TOUCHED | PLACE_EDITED);
	return true;
}

void touched_paths_move(struct touched_paths *t, int root, const char *from, int root2,
			const char *to, bool both)
{
	AUTO_FREE char *here = path_key_make(root, from), *there = path_key_make(root2, to);
	size_t n = has_moved(t) ? 0 : touched_paths_count(t);

	for (size_t i = 0; i < n; i++)
		rename_tree_mark(&t->places, touched_paths_key(t, i),
				 PLACE_TOUCHED | (t->list[i].attrs_set ? PLACE_ATTRS : 0u) |
					 (t->list[i].foreign ? PLACE_EDITED : 0u));
	rename_tree_move(&t->places, root, from, root2, to, both);
	/* The renamed directory's own metadata is restored at its other path. */
	if (rename_tree_marks(&t->places, here) & PLACE_ATTRS)
		touched_paths_attrs(t, there);
	if (both && rename_tree_marks(&t->places, there) & PLACE_ATTRS)
		touched_paths_attrs(t, here);
}

static void settle(void *data, const char *key, unsigned marks)
{
	struct touched_paths *t = data;

	touched_paths_add(t, key, &nothing);
	if (marks & PLACE_ATTRS)
		touched_paths_attrs(t, key);
	if (marks & PLACE_EDITED)
		touched_paths_edited(t, key);
}

void touched_paths_settle(struct touched_paths *t)
{
	rename_tree_each(&t->places, settle, t);
}

void touched_paths_set_after(struct touched_paths *t, size_t i, const struct object *after)
{
	t->list[i].after = look_keep(t, t->list[i].after, after);
}

void touched_path_before(const struct touched_paths *t, const struct touched_path *one,
			 struct object *ret)
{
	look_read(t, one->before, ret);
}

void touched_path_after(const struct touched_paths *t, const struct touched_path *one,
			struct object *ret)
{
	look_read(t, one->after, ret);
}

void touched_paths_done(struct touched_paths *t)
{
	path_set_done(&t->keys);
	rename_tree_done(&t->places);
	free(t->list);
	free(t->looks);
	*t = (struct touched_paths){0};
}

bool step_touch(struct step *s, int root, const char *path, const struct object *before)
{
	AUTO_FREE char *key = path_key_make(root, path);
	const struct touched_inode *k = before->nlink > 1 ? step_known(s, before) : NULL;
	const struct object *first = k ? touched_inodes_first(&s->known, k) : NULL;

	return touched_paths_add(&s->touches, key, first ? first : before);
}

void step_touch_attrs(struct step *s, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);

	touched_paths_attrs(&s->touches, key);
}
