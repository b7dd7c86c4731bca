/* client - relays the user's terminal to the host that draws the console. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "core/api/socket/frames.h"
#include "core/base/err.h"
#include "tui/look/terminal.h"

/*
 * The client knows nothing of the session: bytes go both ways, with the terminal's size and the
 * client's own stops. The first output takes the terminal (raw mode); client_run() restores it
 * before it returns, also after an error. Only SIGKILL of the client itself leaves it raw.
 *
 * Signals: SIGWINCH, SIGTSTP, SIGCONT are about the terminal. SIGTERM and SIGINT are the session's
 *          where the client has started it (host), else they end the client alone. SIGHUP, or the
 *          end of the terminal, ends the client.
 * Threads: one process, one thread; it waits in poll(2).
 */
struct client_spec {
	int fd;			      /* the line; taken over */
	pid_t host;		      /* the child that is the host, to be waited for; or 0 */
	bool plain;		      /* only output: no raw mode, no input */
	const struct terminal *hello; /* sent first; NULL: the host has it already */
};

/* Signals that client_run() hears: block them before the host is forked. */
sigset_t client_block_signals(sigset_t *old);

/* Runs the client. Returns 0, and *ret says why the console is over; free it with ending_done().
 * ret->status 128+N: signal N ended the client. -EPIPE: the host has ended without a message. */
int client_run(const struct client_spec *spec, struct ending *ret, struct err *err) MUST_USE;
