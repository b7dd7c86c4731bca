/* signals - a descriptor that is readable when one of some blocked signals has come. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <stddef.h>

/* The signals are blocked already. Non-blocking, closed on exec; negative errno. */
int os_signals_open(const sigset_t *set);
/* The next one's number, which is taken; 0: there is none. */
int os_signals_next(int fd);

/* Of a process that was forked: what its parent blocks, ignores or catches is not for it. */
static inline void os_signals_usual(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &usual, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}
