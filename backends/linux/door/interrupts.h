/* interrupts - finds out whether a signal would have interrupted a held call. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the signals of a waiting call's thread are read next. */
struct interrupt {
	int64_t next_us; /* not earlier */
	bool seen;	 /* saw a signal that another thread may still take */
	bool held;	 /* by a question to the user: natively the call need not have waited */
};
/* Returns 0, or the answer for the interrupted call. `waiting`: number of calls like it. */
int interrupt_look(struct interrupt *i, int tid, int64_t now, size_t waiting);
/* For callers that cannot make the kernel restart the call. Returns whether the thread should get
 * EINTR: it is being killed, or catches a signal by which programs are ended. */
bool interrupt_ends(int tid);
