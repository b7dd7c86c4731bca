/* touch - the paths that a step has touched, with what was there before and is there after it. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/touch.h"

#include <stdlib.h>

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

struct touch *touches_find(const struct touches *t, const char *key)
{
	size_t i = names_find(&t->keys, key);

	return i == NAMES_NONE ? NULL : &t->list[i];
}

bool touches_add(struct touches *t, const char *key, const struct obj *before)
{
	bool fresh;
	size_t i = names_put(&t->keys, key, &fresh);

	if (!fresh)
		return false;
	if (i == t->cap) {
		t->cap = t->cap ? t->cap + t->cap / 2 : 8;
		t->list = xrealloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[i] = (struct touch){.before = look_keep(t, 0, before)};
	return true;
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
	free(t->list);
	free(t->looks);
	*t = (struct touches){0};
}
