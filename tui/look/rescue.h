/* rescue - restores the user's terminal, also from a signal handler. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Saves the terminal's state and catches fatal signals. modern: private modes were set. */
void rescue_arm(int tty_fd, bool modern);
void rescue_rearm(void); /* after rescue_restore(), when cordon has the terminal again */
/* Restores the terminal once; does nothing until it is armed again. Async-signal-safe. */
void rescue_restore(void);
void rescue_disarm(void); /* signal handlers as before */
