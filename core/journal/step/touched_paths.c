/* touched_paths - the paths that a step touched, with their state before and after it. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/history/rename_tree.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/path_set.h"

#include <stdlib.h>

enum { /* marks on the places */
	PLACE_TOUCHED = 1,
	PLACE_ATTRS = 2,
};

static const struct obj nothing;

static uint32_t look_keep(struct touches *t, uint32_t old, const struct obj *o)
{
	struct look *l;

	if (!o->mode)
		return 0;
	if (!old && t->n_looks == t->cap_looks) {
		t->cap_looks = t->cap_looks ? t->cap_looks + t->cap_looks / 2 : 8;
		t->looks = xrealloc(t->looks, t->cap_looks * sizeof(*t->looks));
	}
	if (!old)
		old = ++t->n_looks;
	l = &t->looks[old - 1];
	look_set(l, o);
	return old;
}

static void look_read(const struct touches *t, uint32_t number, struct obj *ret)
{
	*ret = (struct obj){0};
	if (number)
		look_get(&t->looks[number - 1], ret);
}

static bool has_moved(const struct touches *t)
{
	return t->places.n_dirs;
}

struct touch *touches_find(struct touches *t, const char *key)
{
	size_t i = names_find(&t->keys, key);

	if (i == NAMES_NONE && rename_tree_marks(&t->places, key)) {
		touches_add(t, key, &nothing);
		i = names_find(&t->keys, key);
	}
	return i == NAMES_NONE ? NULL : &t->list[i];
}

bool touches_add(struct touches *t, const char *key, const struct obj *before)
{
	unsigned came = has_moved(t) ? rename_tree_mark(&t->places, key, PLACE_TOUCHED) : 0;
	bool fresh;
	size_t i = names_put(&t->keys, key, &fresh);

	if (!fresh)
		return false;
	if (i == t->cap) {
		t->cap = t->cap ? t->cap + t->cap / 2 : 8;
		t->list = xrealloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[i] = (struct touch){.before = look_keep(t, 0, came ? &nothing : before),
				    .attrs_set = came & PLACE_ATTRS};
	return !came;
}

void touches_attrs(struct touches *t, const char *key)
{
	struct touch *one = touches_find(t, key);

	if (!one)
		return;
	one->attrs_set = true;
	if (has_moved(t))
		rename_tree_mark(&t->places, key, PLACE_TOUCHED | PLACE_ATTRS);
}

void touches_move(struct touches *t, int root, const char *from, int root2, const char *to,
		  bool both)
{
	AUTO_FREE char *here = key_make(root, from), *there = key_make(root2, to);
	size_t n = has_moved(t) ? 0 : touches_count(t);

	for (size_t i = 0; i < n; i++)
		rename_tree_mark(&t->places, touches_key(t, i),
				 PLACE_TOUCHED | (t->list[i].attrs_set ? PLACE_ATTRS : 0u));
	rename_tree_move(&t->places, root, from, root2, to, both);
	/* The directories themselves are dressed where they come to. */
	if (rename_tree_marks(&t->places, here) & PLACE_ATTRS)
		touches_attrs(t, there);
	if (both && rename_tree_marks(&t->places, there) & PLACE_ATTRS)
		touches_attrs(t, here);
}

static void settle(void *data, const char *key, unsigned marks)
{
	struct touches *t = data;

	touches_add(t, key, &nothing);
	if (marks & PLACE_ATTRS)
		touches_attrs(t, key);
}

void touches_settle(struct touches *t)
{
	rename_tree_each(&t->places, settle, t);
}

void touches_set_after(struct touches *t, size_t i, const struct obj *after)
{
	t->list[i].after = look_keep(t, t->list[i].after, after);
}

void touch_before(const struct touches *t, const struct touch *one, struct obj *ret)
{
	look_read(t, one->before, ret);
}

void touch_after(const struct touches *t, const struct touch *one, struct obj *ret)
{
	look_read(t, one->after, ret);
}

void touches_done(struct touches *t)
{
	names_done(&t->keys);
	rename_tree_done(&t->places);
	free(t->list);
	free(t->looks);
	*t = (struct touches){0};
}
