/* sort_darwin - qsort_r(3), whose comparison gets its data first. */
/* SPDX-License-Identifier: MIT */
#include "core/os/sort.h"

struct order {
	os_compare compare;
	void *data;
};

static int compare(void *data, const void *a, const void *b)
{
	const struct order *o = data;

	return o->compare(a, b, o->data);
}

void os_sort(void *list, size_t n, size_t size, os_compare fn, void *data)
{
	struct order o = {fn, data};

	qsort_r(list, n, size, &o, compare);
}
