/* clock - wall time for people, monotonic time for waiting. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Returns microseconds since 1970; in tests CORDON_TEST_CLOCK pins it (see tests/support). */
int64_t clock_wall_us(void);
/* Returns the seconds since 1970 by which permissions end. A clock that is set back prolongs none:
 * this goes on with the time that has passed. */
int64_t clock_expiry_s(void);
/* Returns the same for a time of the wall clock, in seconds, that another process names: it may not
 * have seen the clock being set back. */
int64_t clock_expiry_of(int64_t wall_s);
/* The same for a reading of both clocks, in microseconds. *ahead: the greatest difference so far,
 * at first INT64_MIN. */
int64_t clock_not_back_us(_Atomic int64_t *ahead, int64_t wall_us, int64_t boot_us);
/* Returns microseconds of CLOCK_MONOTONIC. */
int64_t clock_mono_us(void);
/* Returns microseconds of CLOCK_BOOTTIME, in which /proc counts the start of processes. */
int64_t clock_boot_us(void);
/* Formats "2026-11-21T22:04:45.123456Z", for logs. */
void clock_iso(char out[32], int64_t wall_us);
/* Formats "Nov 21 22:04", or "22:04", in local time, for headings. */
void clock_day(char *out, size_t size, int64_t wall_us, bool day);
/* Formats a duration: "0:12", "1:03:20". */
void clock_length(char out[24], int64_t us);
/* Formats "22:04:45", in local time, for lists. */
void clock_hms(char out[16], int64_t wall_us);
