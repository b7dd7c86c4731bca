/* rescue - puts the human's terminal back, also from a signal handler. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Remember the terminal as it is now and catch fatal signals. `modern`: private modes were set. */
void rescue_arm(int tty_fd, bool modern);
void rescue_rearm(void); /* after rescue_restore(), the terminal is ours again */
/* Once; a no-op until armed again. Async-signal-safe. */
void rescue_restore(void);
void rescue_disarm(void); /* signal handlers as before */
