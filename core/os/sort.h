/* sort - qsort_r(3) with the order of arguments that glibc has. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdlib.h>

typedef int (*os_compare)(const void *a, const void *b, void *data);

#ifdef __linux__
static inline void os_sort(void *list, size_t n, size_t size, os_compare compare, void *data)
{
	qsort_r(list, n, size, compare, data);
}
#else
void os_sort(void *list, size_t n, size_t size, os_compare compare, void *data);
#endif
