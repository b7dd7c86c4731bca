/* fork - fork(2) without the handlers of libraries. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <unistd.h>

/*
 * libuv, once a loop has run, has every child close two descriptors by number
 * (uv__signal_global_reinit). A process that was forked after that and has closed them itself
 * may have reused the numbers. For processes of one thread only: locks of other threads stay
 * locked.
 */
static inline pid_t fork_bare(void)
{
#ifdef __GLIBC__
	return _Fork(); /* glibc 2.34 */
#else
	return fork();
#endif
}
