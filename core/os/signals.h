/* signals - a descriptor that is readable when one of some blocked signals has come. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <stddef.h>

/* Blocks the signals of a list that ends with 0. Returns their set, for os_signals_open(). old: the
 * mask before, or NULL. */
static inline sigset_t os_signals_block(const int *list, sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	while (*list)
		sigaddset(&set, *list++);
	(void)sigprocmask(SIG_BLOCK, &set, old);
	return set;
}

/* Returns a descriptor for signals that are blocked already: non-blocking, closed on exec; or
 * negative errno. */
int os_signals_open(const sigset_t *set);
/* Takes the next signal and returns its number; 0: none is pending. */
int os_signals_next(int fd);

/* Resets all signals in a forked process: its parent may block, ignore or catch some. */
static inline void os_signals_usual(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &usual, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}
