/* signals - a descriptor that is readable when one of some blocked signals has come. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>

/* The signals are blocked already. Non-blocking, closed on exec; negative errno. */
int os_signals_open(const sigset_t *set);
/* The next one's number, which is taken; 0: there is none. */
int os_signals_next(int fd);
