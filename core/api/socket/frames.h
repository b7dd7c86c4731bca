/* frames - frames between a console's client and its host, both ways over one socket. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * The host (the process of a session) draws the console; the client has the user's terminal, and
 * relays. A frame is a type, a length, and as many bytes:
 *
 *   client -> host   FRAME_HELLO     columns, rows, "NAME=VALUE" of its environment: first
 *                    FRAME_INPUT     bytes of the terminal
 *                    FRAME_SIZE      columns and rows
 *                    FRAME_RESUMED   the terminal is the client's again: draw all of it
 *                    FRAME_SIGNAL    a signal that is meant for the session, of the client that
 *                                    started it
 *                    FRAME_RAN       FRAME_RUN's program has ended: its status
 *   host -> client   FRAME_OUTPUT    bytes for the terminal; the first takes it over
 *                    FRAME_SUSPEND   stop, as Ctrl-Z does
 *                    FRAME_RUN       a program and its arguments, for the terminal
 *                    FRAME_STOP_RUN  end that program
 *                    FRAME_CLOSE     give the terminal back; FRAME_END follows when all has ended
 *                    FRAME_SAY       a line for standard error, after FRAME_CLOSE
 *                    FRAME_END       why the console is over (struct ending): last
 *
 * The same frames serve a program beside the agent (shell.h), which begins with FRAME_SHELL in
 * place of FRAME_HELLO:
 *
 *   client -> host   FRAME_SHELL     is it to have a terminal, its size; working directory,
 *                                    variables, arguments
 *                    FRAME_EOF       its standard input ends
 *   host -> client   FRAME_ERRORS    bytes of its standard error, where it has no terminal
 *
 * Life:    frames_open() -> frames_fill() when readable, frames_next() for each frame;
 *          frames_send(), then frames_flush() when writable -> frames_close().
 * Trust:   the socket is the user's own (api.h says who may connect). A frame that is too long, or
 *          of an unknown type, ends the connection.
 * Threads: one. Only frames_finish() waits.
 */
enum frame_type {
	FRAME_HELLO = 1,
	FRAME_INPUT,
	FRAME_SIZE,
	FRAME_RESUMED,
	FRAME_SIGNAL,
	FRAME_RAN,
	FRAME_OUTPUT,
	FRAME_SUSPEND,
	FRAME_RUN,
	FRAME_STOP_RUN,
	FRAME_CLOSE,
	FRAME_SAY,
	FRAME_END,
	FRAME_SHELL,
	FRAME_EOF,
	FRAME_ERRORS,
};

#define FRAME_BYTES_MAX	 (4u << 20)  /* bytes of one frame */
#define FRAMES_QUEUE_MAX (16u << 20) /* bytes queued for a peer that does not read */

struct frames {
	int fd; /* -1: closed */
	struct buf in, out;
	size_t used, sent; /* used: bytes of `in` returned; sent: bytes of `out` written */
	bool stalled;	   /* its peer has not read for long: frames_finish() waits only briefly */
};

struct frame {
	enum frame_type type;
	struct span data; /* valid until the next frames_fill() */
};

/* Opens frames on fd, which it takes over and makes non-blocking. */
void frames_open(struct frames *l, int fd);
void frames_close(struct frames *l);

/* Reads the available bytes. Returns 0; -EAGAIN: there are none; -EPIPE: the peer has
 * disconnected. */
int frames_fill(struct frames *l) MUST_USE;
/* Returns 1 with the next frame, 0 if none is complete yet, or -EPROTO. */
int frames_next(struct frames *l, struct frame *ret) MUST_USE;
/* Queues a frame and sends as much as possible. Returns 0; -EPIPE; -ENOBUFS: the queue is full. */
int frames_send(struct frames *l, enum frame_type type, const void *data, size_t len);
int frames_flush(struct frames *l); /* 0, or -EPIPE */
bool frames_wants_write(const struct frames *l);
/* Returns the number of bytes that the peer has not read. */
size_t frames_unread(const struct frames *l);
/* Sends the queued frames, until this monotonic time at the latest. */
void frames_finish(struct frames *l, int64_t until_us);

/* Why a console is over. Strings may be NULL. */
struct ending {
	int status;    /* exit status for the shell */
	bool detached; /* the session continues */
	bool again;    /* the user wants to run the same command again */
	char *error;   /* words of an error */
	char *words;   /* lines for standard output */
	char *kept;    /* session_spec.kept */
	char *next;    /* the session to show next */
};
void ending_put(const struct ending *e, struct buf *out);
/* Reads an ending, with heap strings. Returns 0 or -EPROTO. */
int ending_get(struct ending *e, const struct span *data) MUST_USE;
void ending_done(struct ending *e);

struct frame_size {
	uint16_t w, h;
};

/* The content of FRAME_SHELL. */
struct shell_order {
	bool tty;
	struct frame_size size;
	char *cwd, **env, **argv; /* heap; NULL-terminated lists */
};
void shell_order_put(const struct shell_order *o, struct buf *out);
int shell_order_get(struct shell_order *o, const struct span *data) MUST_USE; /* -EPROTO */
void shell_order_done(struct shell_order *o);
