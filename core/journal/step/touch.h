/* touch - the paths that a step has touched, with what was there before and is there after it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/store/names.h"
#include "core/journal/store/object.h"

struct touch {
	uint32_t before, after; /* numbers + 1 in looks; 0: nothing was there */
	bool foreign;		/* somebody else changed it while the step ran */
	bool dressed;		/* its metadata was changed, not only what it holds */
};

/* Life: a zeroed struct is empty -> touches_done(). A number stays valid, a pointer until the next
 * touches_add(). Blocks and, but for "more than one", links are not kept. */
struct touches {
	struct names keys; /* number i: that of list[i] */
	struct touch *list;
	size_t cap;
	struct look *looks;
	uint32_t n_looks, cap_looks;
};

static inline size_t touches_count(const struct touches *t)
{
	return names_count(&t->keys);
}
static inline const char *touches_key(const struct touches *t, size_t i)
{
	return names_key(&t->keys, i);
}
struct touch *touches_find(const struct touches *t, const char *key); /* or NULL */
/* False: it is there already, and stays as it is. */
bool touches_add(struct touches *t, const char *key, const struct obj *before);
void touches_set_after(struct touches *t, size_t i, const struct obj *after);
void touch_before(const struct touches *t, const struct touch *one, struct obj *ret);
void touch_after(const struct touches *t, const struct touch *one, struct obj *ret);
void touches_done(struct touches *t);
