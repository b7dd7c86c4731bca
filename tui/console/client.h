/* client - relays the user's terminal to the host that draws the console. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "core/api/socket/frames.h"
#include "core/base/err.h"
#include "tui/look/terminal.h"

/*
 * The client has no knowledge of the session: bytes pass both ways, with the terminal's size and
 * the client's own stops. The first output takes the terminal (raw mode); client_run() restores it
 * before it returns, also after an error. Only SIGKILL of the client leaves it raw.
 *
 * Signals: SIGWINCH, SIGTSTP, SIGCONT concern the terminal. SIGTERM and SIGINT are the session's if
 *          the client has started it (host); else they end the client alone. SIGHUP, or the end of
 *          the terminal, ends the client.
 * Threads: one process, one thread; it waits in poll(2).
 */
struct client_spec {
	int fd;			      /* the connection; taken over */
	pid_t host;		      /* the child that is the host, for waitpid(); or 0 */
	bool plain;		      /* output only: no raw mode, no input */
	const struct terminal *hello; /* sent first; NULL: the host has it */
};

/* Blocks the signals that client_run() handles: call it before the host is forked. */
sigset_t client_block_signals(sigset_t *old);

/* Runs the client. Returns 0, and *ret says why the console is over; free it with ending_done().
 * ret->status 128+N: signal N ended the client. -EPIPE: the host ended without a message. */
int client_run(const struct client_spec *spec, struct ending *ret, struct err *err) MUST_USE;
