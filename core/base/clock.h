/* clock - wall time for people, monotonic time for waiting. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Microseconds since 1970; CORDON_TEST_CLOCK pins it in tests (see tests/support). */
int64_t clock_wall_us(void);
/* Microseconds of CLOCK_MONOTONIC. */
int64_t clock_mono_us(void);
/* Microseconds of CLOCK_BOOTTIME, as /proc counts the start of processes. */
int64_t clock_boot_us(void);
/* "2026-11-21T22:04:45.123456Z", for logs. */
void clock_iso(char out[32], int64_t wall_us);
/* "Nov 21 22:04", or without the day, local time, for headings. */
void clock_day(char *out, size_t size, int64_t wall_us, bool day);
/* "0:12", "1:03:20": how long something took. */
void clock_length(char out[24], int64_t us);
/* "22:04:45", local time, for lists. */
void clock_hms(char out[16], int64_t wall_us);
