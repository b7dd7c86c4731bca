/* grow - makes room for one more entry in a list on the heap. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Makes room for list[n], if the list has room for cap entries. */
#define GROW(list, cap, n)                                                                         \
	do {                                                                                       \
		if ((n) == (cap)) {                                                                \
			(cap) = (cap) ? (cap) + (cap) / 2 : 8;                                     \
			(list) = xrealloc((list), (cap) * sizeof(*(list)));                        \
		}                                                                                  \
	} while (0)
