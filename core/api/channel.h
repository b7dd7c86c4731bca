/* channel - lines in and lines out over two descriptors, bounded, on a loop. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

typedef struct uv_loop_s uv_loop_t;

/*
 * Life:    channel_open() -> channel_close(), which takes effect when the loop runs once more;
 *          the descriptors are the caller's unless `owned`.
 * Threads: main loop only; never blocks on a pipe, socket or terminal. Files are read and written
 *          at once.
 * Bounds:  a line of more than `longest` bytes is told as too_long() and skipped. What is sent is
 *          kept until it is taken: the caller looks at channel_waiting() before it sends more, and
 *          no lines are read while more than CHANNEL_PAUSE waits.
 */
#define CHANNEL_PAUSE (1u << 20)

struct channel;

struct channel_listener {
	void (*line)(void *data, char *line, size_t len); /* NUL-terminated; may be changed */
	void (*too_long)(void *data);
	void (*sent)(void *data, size_t bytes); /* so many were taken; may be NULL */
	void (*ended)(void *data, bool reader); /* reader: nobody reads any more; else: end of
						   input. Once each. */
};

struct channel_spec {
	int in, out; /* may be the same */
	bool owned;
	bool raw;	/* no lines: line() has what came, as it came */
	size_t longest; /* */
};

struct channel *channel_open(uv_loop_t *loop, const struct channel_spec *spec,
			     const struct channel_listener *on, void *data) MUST_USE;
void channel_close(struct channel *c);			      /* NULL is a no-op */
void channel_send(struct channel *c, const struct buf *text); /* whole lines */
size_t channel_waiting(const struct channel *c);
/* How long nothing of what waits has been taken, in microseconds; 0: nothing waits. */
int64_t channel_stalled(const struct channel *c);
/* Read nothing until it is let go. */
void channel_hold(struct channel *c, bool hold);
/* Nothing more is sent: what waits is written, then the descriptor is closed. */
void channel_finish(struct channel *c);
/* Write what waits, for so long at most: before the end of the program. */
void channel_flush(struct channel *c, int milliseconds);
