/* comb - how far apart the points are at which a test kills or fails what it runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdlib.h>

/* Returns the distance from one point to the next; 1 with CORDON_TEST_THOROUGH, as `make soak` has
 * it. The sanitizers look at the code, which fewer points lead through as well. So it is as an
 * ordinary user, after root, and in continuous integration, where TEST_FEWER is a factor. */
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
