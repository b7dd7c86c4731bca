/* snapshot - saves a terminal as bytes, and makes an equal terminal from them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "tui/term/term.h"

/* The two are equal in every cell, the cursor, all modes that affect later output, and the newest
 * lines of the history. Threads: main loop. */

/* Replaces secrets by stars, byte for byte. */
struct snapshot_filter {
	void (*redact)(void *data, char *text, size_t len);
	void *data;
};

/* Prepares for snapshots. The filter (may be NULL) must live as long as the term. */
void term_snapshots(struct term *t, const struct snapshot_filter *filter);
/* Appends to key the bytes for term_from_snapshot(), and to screen the bytes that paint the same on
 * a terminal after a reset. Returns false in the middle of a sequence or repaint, or in a state
 * that cannot be saved. */
bool term_snapshot(struct term *t, struct buf *key, struct buf *screen) MUST_USE;
/* Makes a terminal. key may be hostile. Returns NULL if it is no snapshot. */
struct term *term_from_snapshot(const char *key, size_t len, const struct term_events *on,
				void *data) MUST_USE;
