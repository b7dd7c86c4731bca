/* pin - keeps the calling thread on its current processor, for a moment. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A pin belongs to the calling thread; pin_end() restores its processors, and does nothing without
 * a pin. A fork ends the pin first, so the child has all processors. A new thread would inherit the
 * pin: call pin_end() before each pthread_create() in a thread that pins.
 *
 * If other code sets the processors of the thread meanwhile, its setting stays and the pin has
 * ended.
 */
bool pin_here(int cpu); /* false: the thread was not pinned */
void pin_end(void);
bool pin_is_held(void);

#ifdef __linux__
/* Restores the processors of a task. If the set is not allowed, allows all. */
void pin_set_free(pid_t tid, const cpu_set_t *own);
#endif
