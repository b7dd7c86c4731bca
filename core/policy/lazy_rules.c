/* lazy_rules - rules that no path has come near yet: they are in no index. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/lazy_rules.h"

#include <string.h>

void shelf_clear(struct shelf *s)
{
	s->n = 0;
	s->kinds = 0;
	s->weight = 0;
}

void shelves_done(struct shelves *s)
{
	for (size_t i = 0; i < s->n; i++) {
		buf_done(&s->list[i].dir);
		buf_done(&s->list[i].base);
		buf_done(&s->list[i].inner);
	}
}

struct shelf *shelves_few(struct shelves *s)
{
	struct shelf *last = s->n ? &s->list[s->n - 1] : NULL;

	return last && last->n < SHELF_FEW ? last : NULL;
}

bool shelves_open(struct shelves *s, const struct shelf_stem *stem)
{
	struct shelf *to = shelves_few(s);

	if (!to && s->n == SHELVES)
		return false;
	if (!to) {
		to = &s->list[s->n++];
		*to = (struct shelf){.dir = BUF_INIT, .base = BUF_INIT, .inner = BUF_INIT};
	}
	to->skip = stem->skip;
	buf_clear(&to->dir);
	buf_clear(&to->base);
	buf_clear(&to->inner);
	buf_add(&to->dir, stem->dir.data, stem->dir.len);
	buf_add(&to->base, stem->dir.data, stem->dir.len - (stem->deep ? strlen("**") : 0));
	return true;
}

/* What the first one has behind the stem, as far as all others have it as well. */
static void keep_common(struct shelf *s, struct buf *text, size_t from, const char *rest,
			size_t plain)
{
	size_t n;

	if (!s->n) {
		buf_add(text, rest, plain);
		return;
	}
	n = pattern_alike(text->data + from, rest, MIN(text->len - from, plain));
	if (from + n < text->len)
		buf_truncate(text, from + n);
}

void shelves_add(struct shelves *s, uint32_t number, const char *rest, size_t plain)
{
	struct shelf *to = &s->list[s->n - 1];

	if (to->base.len < to->dir.len)
		keep_common(to, &to->inner, 0, rest, plain);
	else
		keep_common(to, &to->base, to->dir.len, rest, plain);
	to->first = to->n ? to->first : number;
	to->end = number + 1;
	to->n++;
}

struct shelf *shelves_of(struct shelves *s, uint32_t number)
{
	struct shelf *at = s->list;

	while (!at->n || number < at->first || number >= at->end)
		at++;
	return at;
}

bool shelf_is_near(const struct shelf *s, const char *path)
{
	return str_starts(path, s->base.data) &&
	       (!s->inner.len || strstr(path + s->base.len - 1, s->inner.data));
}

bool shelf_is_beneath(const struct shelf *s, const char *dir)
{
	size_t n = dir[1] ? strlen(dir) : 0;

	return n < s->base.len && s->base.data[n] == '/' && memcmp(dir, s->base.data, n) == 0;
}
