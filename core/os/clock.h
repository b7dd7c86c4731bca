/* clock - clocks under one name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* On macOS CLOCK_MONOTONIC goes on while the machine sleeps; conditions know no clock but the
 * wall's. */
#ifdef __linux__
static inline void os_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* Waits until this time of CLOCK_MONOTONIC or a signal. Returns false if the time has come. */
static inline bool os_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t us)
{
	const struct timespec until = {us / 1000000, us % 1000000 * 1000};

	return pthread_cond_timedwait(cond, lock, &until) == 0;
}
#else
#define CLOCK_BOOTTIME	      CLOCK_MONOTONIC
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME

static inline void os_cond_init(pthread_cond_t *cond)
{
	pthread_cond_init(cond, NULL);
}

static inline bool os_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t us)
{
	const int64_t now = (int64_t)(clock_gettime_nsec_np(CLOCK_MONOTONIC) / 1000);
	const int64_t left = us > now ? us - now : 0;
	const struct timespec wait = {left / 1000000, left % 1000000 * 1000};

	return pthread_cond_timedwait_relative_np(cond, lock, &wait) == 0;
}
#endif
