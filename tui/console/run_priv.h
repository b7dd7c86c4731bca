/* run_priv - the state of a run's host, and its agent's terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/console_priv.h"

struct api;
struct approver;
struct kept_answers;
struct tape;

struct run {
	struct host host; /* first */
	uv_loop_t loop;
	uv_poll_t poll_session, poll_pty, poll_approver;
	uv_timer_t tick, more;
	uv_signal_t signals[N_SIGNALS];
	struct tape *tape;	   /* the recording, or NULL */
	struct kept_answers *kept; /* from before a restart; borrowed */
	uint64_t kept_seen;	   /* newest question that a kept answer was given to */
	struct approver *approver; /* NULL: no command is set */
	struct api *api;	   /* NULL: its socket could not be made */
	bool running;		   /* the loop runs */
	bool pty_over;
};

/* ---- run_terminal.c ---------------------------------------------------------------------------
 */

/* Opens the agent's terminal in the size of its pane. *ret_slave: the agent's end. */
int run_open_terminal(struct run *r, const struct terminal *t, int *ret_slave, struct err *err)
	MUST_USE;
/* Polls the terminal for output, and for writing while input waits. */
void run_watch_terminal(struct run *r);
/* Feeds output to the pane and the recording, for a few milliseconds. The rest of the bytes that
 * were read follows in the next turn of the loop, because poll(2) does not report them again. */
void run_pump(struct run *r);
/* Like run_pump(), after the agent's end, for a second at most. */
void run_drain(struct run *r);
