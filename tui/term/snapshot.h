/* snapshot - the terminal as bytes from which another one becomes the same. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "tui/term/term.h"

/*
 * Same: every cell, the cursor, and all that decides how what follows is shown. Of the history
 * its newest lines.
 * Threads: main loop.
 */

/* What must not be kept is starred out, byte for byte. */
struct snapshot_filter {
	void (*redact)(void *data, char *text, size_t len);
	void *data;
};

/* From now on snapshots will be asked for; the filter (may be NULL) lives as long as the term. */
void term_snapshots(struct term *t, const struct snapshot_filter *filter);
/*
 * Appended to key: for term_from_snapshot(); to screen: bytes that paint the same on a terminal
 * that was reset. False: not at this moment, the program is in the middle of something.
 */
bool term_snapshot(struct term *t, struct buf *key, struct buf *screen) MUST_USE;
/* NULL: that is no snapshot. It may come from anywhere. */
struct term *term_from_snapshot(const char *key, size_t len, const struct term_events *on,
				void *data) MUST_USE;
