/* clock - wall time for people, monotonic time for waiting. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"

#include <time.h>

int64_t clock_wall_us(void)
{
	const char *pinned = getenv("CORDON_TEST_CLOCK");
	struct timespec ts;

	if (pinned && *pinned)
		return strtoll(pinned, NULL, 10) * 1000000;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
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
