/* headless_tty - a pty and a filter between the user's terminal and a command without a console. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "core/session/session.h"
#include "tui/term/filter.h"
#include "tui/term/pty.h"

/*
 * Each of the three standard streams that is a terminal becomes a pty for the command. The pty's
 * output passes the filter (tui/term/filter.h), and unfiltered pty.tap, if that is set; pipes and
 * files go to the command unchanged. If
 * standard input is a terminal, keys go raw to the pty, which becomes the command's controlling
 * terminal: its line discipline echoes and sends signals. In the background no key is read.
 *
 * A loop's turn takes a second at most.
 *
 * Life: headless_tty_open() -> session_start() -> headless_tty_started() -> in the loop
 *       headless_tty_polls(), poll(2), headless_tty_ready(); headless_tty_signal() ->
 *       session_close() -> headless_tty_close().
 */
struct headless_tty {
	struct pty pty; /* fd -1: no stream is a terminal */
	struct term_filter filter;
	struct buf out; /* filtered, not yet written */
	size_t sent;
	struct winsize size;
	int slave, terminal; /* terminal: descriptor (0, 1 or 2) for output */
	struct termios before;
	bool unused; /* the command's side is closed everywhere: read in each turn of the loop */
	bool typed;  /* standard input is a terminal */
	bool reads;  /* cordon is in the foreground: keys go to the command */
};
enum {
	HEADLESS_TTY_POLLS = 3
};

int headless_tty_open(struct headless_tty *t, struct session_spec *spec, struct err *err) MUST_USE;
void headless_tty_started(struct headless_tty *t);
void headless_tty_polls(const struct headless_tty *t, struct pollfd p[HEADLESS_TTY_POLLS]);
void headless_tty_ready(struct headless_tty *t, const struct pollfd p[HEADLESS_TTY_POLLS]);
/* Handles a signal about the terminal alone. Returns whether it was one. */
bool headless_tty_signal(struct headless_tty *t, int sig);
/* Writes the remaining output of the command, and restores the terminal. */
void headless_tty_close(struct headless_tty *t);
