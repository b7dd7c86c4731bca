/* u64_set - a set of numbers: filled, sorted once, then searched. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/util/u64_set.h"

#include <stdlib.h>

#include "core/base/util.h"

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void u64_set_add(struct u64_set *s, uint64_t number)
{
	if (s->n % 64 == 0)
		s->list = xrealloc(s->list, (s->n + 64) * sizeof(*s->list));
	s->list[s->n++] = number;
}

void u64_set_sort(struct u64_set *s)
{
	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_number);
}

bool u64_set_have(const struct u64_set *s, uint64_t number)
{
	return s->n && bsearch(&number, s->list, s->n, sizeof(*s->list), by_number);
}

void u64_set_done(struct u64_set *s)
{
	free(s->list);
	*s = (struct u64_set){0};
}
