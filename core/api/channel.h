/* channel - reads and writes lines over two descriptors on a loop, with bounded queues. */
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
 * Bounds:  a line of more than `longest` bytes is reported by too_long() and skipped. Sent text is
 *          kept until the peer has read it: the caller checks channel_waiting() before it sends
 *          more, and no lines are read while more than CHANNEL_PAUSE bytes wait.
 */
#define CHANNEL_PAUSE (1u << 20)

struct channel;

struct channel_listener {
	void (*line)(void *data, char *line, size_t len); /* NUL-terminated; may be changed */
	void (*too_long)(void *data);
	void (*sent)(void *data, size_t bytes); /* the peer has read so many; may be NULL */
	/* Called once for each direction. reader: the peer reads nothing more; else the input has
	 * ended. */
	void (*ended)(void *data, bool reader);
};

struct channel_spec {
	int in, out; /* may be the same */
	bool owned;
	bool raw; /* line() gets the bytes as they arrive, not lines */
	size_t longest;
};

struct channel *channel_open(uv_loop_t *loop, const struct channel_spec *spec,
			     const struct channel_listener *on, void *data) MUST_USE;
void channel_close(struct channel *c);			      /* NULL is a no-op */
void channel_send(struct channel *c, const struct buf *text); /* whole lines */
size_t channel_waiting(const struct channel *c);
/* Returns for how many microseconds the peer has not read the waiting text; 0: no text waits. */
int64_t channel_stalled(const struct channel *c);
/* Stops reading, or continues it. */
void channel_hold(struct channel *c, bool hold);
/* Writes the waiting text, then closes the descriptor. The caller sends nothing more. */
void channel_finish(struct channel *c);
/* Writes the waiting text for at most this time, before the program ends. */
void channel_flush(struct channel *c, int milliseconds);
