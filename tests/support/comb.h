/* comb - the distance between points at which a test kills or fails what it runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdlib.h>

/* Returns the distance from one point to the next; 1 with CORDON_TEST_THOROUGH, set by `make soak`.
 * It is larger with sanitizers, which check the code at fewer points as well; for an ordinary user,
 * whose run comes after root's; and in continuous integration, where TEST_FEWER is a factor. */
static inline int comb(int apart)
{
	const char *fewer = getenv("TEST_FEWER");

	if (fewer)
		apart *= atoi(fewer);
	if (getenv("TEST_AGAIN"))
		apart *= 2;
#ifdef __SANITIZE_ADDRESS__
	apart *= 3;
#endif
	return getenv("CORDON_TEST_THOROUGH") ? 1 : apart;
}
