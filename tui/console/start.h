/* start - forks the host of a console, and runs its first client. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/socket/frames.h"
#include "tui/console/console.h"
#include "tui/look/terminal.h"

/*
 * The host is a child of the calling process, in a process session of its own: a closed terminal
 * sends it no signal. It is forked before any thread exists.
 *
 * Exit: the client has the host's exit status, and ends after it. A detached client ends with 0
 * while the host continues.
 */
struct start {
	/* Runs the host, in the child, and reports the reason of its end to its clients by
	 * host_end(). */
	void (*host)(void *data, struct frames *line, struct terminal *terminal);
	void *data;
};

/* Returns the exit status, or a negative errno with err set. ret: free it with ending_done(). */
int start_host(const struct start *start, struct ending *ret, struct err *err) MUST_USE;

struct kept_answers;
/* run.c: the host of a run. */
void run_host(const struct session_spec *spec, const struct console_options *opt,
	      struct kept_answers *kept, struct frames *line, struct terminal *terminal,
	      struct ending *end);
