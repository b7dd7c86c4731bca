/* interrupts - finds out whether a signal would have interrupted a held call. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/interrupts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/util.h"

/*
 * Once the door has received a trapped call, signals wait for its answer (WAIT_KILLABLE_RECV). That
 * is right for calls that the kernel does not let signals interrupt either. But natively a signal
 * ends a connect() and the open() of a FIFO that have to wait. So it must also end a call that
 * waits for the user's answer: a user who presses Ctrl-C does not mean to answer first. For these
 * calls the door reads the pending signals from /proc at intervals, and answers as the kernel
 * would: with ERESTARTSYS, which the kernel turns into EINTR or into a restart of the call, by the
 * signal's handler. A stopped process restarts it when it continues.
 *
 * A program must not see ERESTARTSYS itself. It does not if the signal is pending for this very
 * thread. A signal that any thread of the process may take is pending too, without having woken
 * this one: the answer is EINTR if no thread has taken it after two looks. Programs whose handlers
 * restart calls get EINTR too, and few expect it from the open() of a file: while the user is
 * asked, only signals that are meant to end a program count.
 */

#define LOOK_US 20000 /* plus as much for each group of waiting calls */
#define LOOK_N	16

#ifndef ERESTARTSYS /* private to the kernel */
#define ERESTARTSYS 512
#endif

struct signals { /* pending ones that are neither blocked nor ignored */
	uint64_t own, any, caught;
	bool alone; /* the process has one thread */
};

static uint64_t bit(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

/* Returns the signals by which a user or a supervisor ends a program. */
static uint64_t ending(void)
{
	return bit(SIGINT) | bit(SIGTERM) | bit(SIGHUP) | bit(SIGQUIT);
}

static uint64_t hex(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 16) : 0;
}

static int signals_of(int tid, struct signals *ret)
{
	char path[32];
	AUTO_FREE char *text = NULL;
	uint64_t open;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	r = io_read_file(AT_FDCWD, path, 1 << 20, &text, NULL);
	if (r < 0)
		return r;
	open = ~(hex(text, "\nSigBlk:\t") | hex(text, "\nSigIgn:\t"));
	ret->own = hex(text, "\nSigPnd:\t") & open;
	ret->any = hex(text, "\nShdPnd:\t") & open;
	ret->caught = hex(text, "\nSigCgt:\t");
	ret->alone = strstr(text, "\nThreads:\t1\n") != NULL;
	return 0;
}

static int look(struct interrupt *i, int tid)
{
	struct signals s;
	bool before = i->seen;

	if (signals_of(tid, &s) < 0)
		return 0;
	if (s.own != 0 || (s.any != 0 && s.alone))
		return -ERESTARTSYS;
	if (i->held)
		s.any &= ending();
	i->seen = s.any != 0;
	return i->seen && before ? -EINTR : 0;
}

int interrupt_look(struct interrupt *i, int tid, int64_t now, size_t waiting)
{
	if (now < i->next_us)
		return 0;
	i->next_us = now + LOOK_US * (1 + (int64_t)(waiting / LOOK_N));
	return look(i, tid);
}

bool interrupt_ends(int tid)
{
	struct signals s;

	if (signals_of(tid, &s) < 0) /* it has ended */
		return true;
	/* A fatal signal becomes SIGKILL, pending for each thread. */
	return (s.own & bit(SIGKILL)) || ((s.own | s.any) & s.caught & ending());
}
