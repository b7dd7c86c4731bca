/* recording_time - a time as a human or a console writes it, as a place in a recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* Times are microseconds from the beginning. Threads: one at a time, as for the recording. */

/* "1764312345.25" -> microseconds; -1: no such number. */
int64_t recording_seconds(const char *text);
/* "1:02:03", "90", "50%", and "@1764312345.25", seconds since 1970. It may be beyond the end; -1:
 * no time. */
int64_t recording_time(struct recording *rec, const char *text);
/* Of the last kind alone: microseconds since 1970; -1: another kind, or no time. */
int64_t recording_wall(const char *text);
/* Where the newest row of activity is that is not younger. reached: there is one as young as that,
 * so what happened then is in the recording. -1: nobody knows. */
int64_t recording_at_wall(struct recording *rec, int64_t wall_us, bool *ret_reached);
/* Of the first event after at_us at which something happens: a measure of memory or processor is
 * none. -1: there is none. */
int64_t recording_next(struct recording *rec, int64_t at_us);

#define RECORDING_IDLE_US   2000000
#define RECORDING_SPEED_MIN (1.0 / 16)
#define RECORDING_SPEED_MAX 64.0

/* What a player cuts pauses to: the recording says, else two seconds. */
int64_t recording_idle(const struct recording *rec);
