/* pages - populates memory in one call before it is filled. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "core/base/util.h"

/*
 * Each page of new memory causes a fault when it is first written to, which costs twice as much as
 * populating it with others. This is only a hint: it needs Linux 5.14, and does nothing below
 * PAGES_FEW bytes.
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
