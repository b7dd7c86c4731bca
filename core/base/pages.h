/* pages - memory that will be filled at once is made at once. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "core/base/util.h"

/*
 * Each page of new memory is a fault of its own when it is first written to, twice as dear as a
 * page that is made together with others. A wish only: Linux 5.14, and not worth it for little.
 */
#define PAGES_FEW ((size_t)64 << 10)

static inline void pages_fill(void *p, size_t len)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)p + len) & ~(page - 1);

	if (len >= PAGES_FEW && to > from)
		(void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
	(void)p, (void)len;
#endif
}
