/* pty - the agent's pseudo-terminal: open, size, pump, write queue. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/base/buf.h"

/*
 * Life:      pty_open() -> the slave goes to the agent as its stdio, and is closed here -> poll
 *            fd: readable pty_pump(), writable (while pty_wants_write()) pty_flush() -> pty_done().
 * Ownership: the caller's memory; the pty owns fd. The slave belongs to the caller.
 * Threads:   main loop only.
 */
struct term;

#define PTY_QUEUE_MAX ((size_t)1024 * 1024) /* bytes that wait until the agent reads them */

struct pty {
	int fd; /* the master: CLOEXEC, non-blocking */
	struct buf queue;
	size_t sent; /* bytes of the queue that are sent */
	char *chunk; /* bytes read but not yet fed: [chunk_at, chunk_len) */
	size_t chunk_at, chunk_len;
	/* Receives the output after it was fed to the term; or NULL. */
	void (*tap)(void *data, const char *bytes, size_t len);
	void *tap_data;
};

#define PTY_INIT                                                                                   \
	{                                                                                          \
		.fd = -1, .queue = BUF_INIT, .sent = 0, .chunk = NULL                              \
	}
#define PTY_CHUNK ((size_t)64 * 1024)

int pty_open(struct pty *p, int rows, int cols, int *ret_slave, struct err *err) MUST_USE;
void pty_done(struct pty *p);
int pty_resize(struct pty *p, int rows, int cols);

/* Reads the agent's output and feeds it to t until none is left or budget_us is used up. Returns 1
 * if more output may be available (call again in the next turn of the loop, after input and
 * repaint), 0 if all was read, -EIO at the end, when the last slave is closed. */
int pty_pump(struct pty *p, struct term *t, int64_t budget_us);

/* Queues bytes and sends as many as possible without blocking. Takes all or none: -ENOBUFS if the
 * queue is full, so that no escape sequence is sent in part. */
int pty_write(struct pty *p, const void *bytes, size_t len);
int pty_flush(struct pty *p);
bool pty_wants_write(const struct pty *p);
