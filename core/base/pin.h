/* pin - keeps the calling thread on the processor where it runs, for a moment. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A pin is the calling thread's alone; pin_end() gives it back the processors that it had, and does
 * nothing where there is no pin. What is forked meanwhile has them all: the pin ends first. A
 * thread would inherit it: pin_end() belongs before each pthread_create() of a thread that pins.
 *
 * Who else sets the thread's processors meanwhile is not overruled: then the pin has ended.
 */
bool pin_here(int cpu); /* it runs there now; false: nothing was done */
void pin_end(void);
bool pin_is_held(void);

#ifdef __linux__
/* That task's processors again. A set that is no longer allowed is not left: any then. */
void pin_set_free(pid_t tid, const cpu_set_t *own);
#endif
