/* clock - wall time for people, monotonic time for waiting. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"

#include <stdatomic.h>
#include <time.h>

#include "core/os/clock.h"

/* Returns the pinned time. The keeper reads the clock several times for each call that it serves,
 * so this searches the environment once; threads that race find the same value. */
static int64_t pinned_us(void)
{
	static _Atomic int64_t pinned = -2; /* -2: not searched yet, -1: not pinned */
	int64_t us = atomic_load_explicit(&pinned, memory_order_relaxed);
	const char *text;

	if (us != -2)
		return us;
	text = getenv("CORDON_TEST_CLOCK");
	us = text && *text ? strtoll(text, NULL, 10) * 1000000 : -1;
	atomic_store_explicit(&pinned, us, memory_order_relaxed);
	return us;
}

int64_t clock_wall_us(void)
{
	int64_t pinned = pinned_us();
	struct timespec ts;

	if (pinned >= 0)
		return pinned;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_not_back_us(_Atomic int64_t *ahead, int64_t wall_us, int64_t boot_us)
{
	int64_t most = atomic_load(ahead), now = wall_us - boot_us;

	while (now > most && !atomic_compare_exchange_weak(ahead, &most, now))
		;
	return boot_us + MAX(now, most);
}

/* Returns by how much the wall clock, which shows this, was set back since the first call. */
static int64_t behind_us(int64_t wall_us)
{
	static _Atomic int64_t ahead = INT64_MIN;

	if (pinned_us() >= 0)
		return 0;
	return clock_not_back_us(&ahead, wall_us, clock_boot_us()) - wall_us;
}

int64_t clock_expiry_s(void)
{
	int64_t wall_us = clock_wall_us();

	return (wall_us + behind_us(wall_us)) / 1000000;
}

int64_t clock_expiry_of(int64_t wall_s)
{
	return wall_s + behind_us(clock_wall_us()) / 1000000;
}

int64_t clock_mono_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_boot_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void clock_iso(char out[32], int64_t wall_us)
{
	time_t s = (time_t)(wall_us / 1000000);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, 32 - n, ".%06dZ", (int)(wall_us % 1000000));
}

void clock_hms(char out[16], int64_t wall_us)
{
	time_t s = (time_t)(wall_us / 1000000);
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(out, 16, "%H:%M:%S", &tm);
}

void clock_day(char *out, size_t size, int64_t wall_us, bool day)
{
	time_t t = (time_t)(wall_us / 1000000);
	struct tm tm;

	localtime_r(&t, &tm);
	if (day)
		strftime(out, size, "%b %d %H:%M", &tm);
	else
		strftime(out, size, "%H:%M", &tm);
}

void clock_length(char out[24], int64_t us)
{
	long long s = us / 1000000;

	if (s >= 3600)
		snprintf(out, 24, "%lld:%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
	else
		snprintf(out, 24, "%d:%02d", (int)(s / 60), (int)(s % 60));
}
