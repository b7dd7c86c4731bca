/* recording_time - turns a time as users write it into a position in a recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* Times are microseconds from the beginning. Threads: one at a time, as for the recording. */

/* Parses seconds, "1764312345.25", to microseconds. Returns -1 if the text is something else. */
int64_t recording_seconds(const char *text);
/* Parses "1:02:03", "90", "50%", and "@1764312345.25", seconds since 1970. The result may be beyond
 * the end; -1: the text is not a time. */
int64_t recording_time(struct recording *rec, const char *text);
/* Parses only the last form. Returns microseconds since 1970; -1: the text is something else. */
int64_t recording_wall(const char *text);
/* Returns the position of the newest row of activity at wall_us or before. Before the first row,
 * uses the time in the header. Returns -1 if it is unknown. *ret_reached: the recording has a row
 * at wall_us or later. */
int64_t recording_at_wall(struct recording *rec, int64_t wall_us, bool *ret_reached);
/* Returns the time of the first event after at_us that is not a measure of memory or processor, or
 * -1. */
int64_t recording_next(struct recording *rec, int64_t at_us);

#define RECORDING_IDLE_US   2000000
#define RECORDING_SPEED_MIN (1.0 / 16)
#define RECORDING_SPEED_MAX 64.0

/* Returns the longest pause that a player keeps: the recording's limit, or two seconds. */
int64_t recording_idle(const struct recording *rec);
