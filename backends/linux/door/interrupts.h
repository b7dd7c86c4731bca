/* interrupts - tells whether a signal would have interrupted a call that is held. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a call that waits is looked at for signals. */
struct interrupt {
	int64_t next_us; /* not before */
	bool seen;	 /* one that another thread may still take */
	bool held;	 /* by a human: natively the call need not have waited at all */
};
/* 0, or what the call is to be answered with. `waiting`: how many there are like it. */
int interrupt_look(struct interrupt *i, int tid, int64_t now, size_t waiting);
/* For who cannot have the kernel make the call again: is the thread to be let go with EINTR? It is
 * being killed, or catches a signal by which programs are ended. */
bool interrupt_ends(int tid);
