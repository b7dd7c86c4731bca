/* interrupts - tells whether a signal would have interrupted a call that is held. */
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
 * Once a trapped call has been received, signals wait for its answer (WAIT_KILLABLE_RECV): rightly
 * for what the kernel does not let them interrupt either. Natively they do end a connect() and the
 * open() of a FIFO that have to wait, and so they shall end a call that waits for a human: who
 * presses Ctrl-C does not mean to answer first. So for these /proc is looked at now and then, and
 * they are answered as the kernel would: with ERESTARTSYS, which it turns into EINTR or into the
 * same call once more, as the handler was installed; a stopped process makes it again when it goes
 * on.
 *
 * A program must not see that number itself. It does not while a signal waits for this very thread.
 * One that any thread of the process may take waits here too, without having woken this one: then
 * it is EINTR, if nobody has taken it after two looks. Programs that have a handler restart their
 * calls get it too, and of the open() of a file few expect it: where a human is waited for, those
 * signals alone do this that are sent to end a program.
 */

#define LOOK_US 20000 /* and as much again for every so many calls that wait: */
#define LOOK_N	16

#ifndef ERESTARTSYS /* the kernel's own */
#define ERESTARTSYS 512
#endif

struct signals { /* that wait, and are neither blocked nor ignored */
	uint64_t own, any, caught;
	bool alone; /* there is no other thread */
};

static uint64_t bit(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

/* Those by which a human or a supervisor ends a program. */
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

	if (signals_of(tid, &s) < 0) /* it has gone */
		return true;
	/* Any signal that kills becomes this one, pending for each thread. */
	return (s.own & bit(SIGKILL)) || ((s.own | s.any) & s.caught & ending());
}
