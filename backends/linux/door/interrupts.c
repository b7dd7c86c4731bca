/* interrupts - would a call that we let wait have been interrupted by a signal by now? */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "backends/linux/door/door_priv.h"
#include "core/base/io.h"

/*
 * Once a trapped call has been received, signals wait for its answer (WAIT_KILLABLE_RECV): rightly
 * for what the kernel does not let them interrupt either. Natively they do end a connect() and the
 * open() of a FIFO that have to wait. So for these /proc is looked at now and then, and they are
 * answered as the kernel would: with ERESTARTSYS, which it turns into EINTR or into the same call
 * once more, as the handler was installed; a stopped process makes it again when it goes on.
 *
 * A program must not see that number itself. It does not while a signal waits for this very thread.
 * One that any thread of the process may take waits here too, without having woken this one: then
 * it is EINTR, if nobody has taken it after two looks.
 */

#define LOOK_US 20000 /* and as much again for every so many calls that wait: */
#define LOOK_N	16

#ifndef ERESTARTSYS /* the kernel's own */
#define ERESTARTSYS 512
#endif

static uint64_t hex(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 16) : 0;
}

static int look(int tid, bool *before)
{
	char path[32];
	AUTO_FREE char *text = NULL;
	const char *threads;
	uint64_t open, own, any;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (io_read_file(AT_FDCWD, path, 1 << 20, &text, NULL) < 0)
		return 0;
	open = ~(hex(text, "\nSigBlk:\t") | hex(text, "\nSigIgn:\t"));
	own = hex(text, "\nSigPnd:\t") & open;
	any = hex(text, "\nShdPnd:\t") & open;
	threads = strstr(text, "\nThreads:\t1\n");
	if (own != 0 || (any != 0 && threads != NULL))
		return -ERESTARTSYS;
	if (any != 0 && *before)
		return -EINTR;
	*before = any != 0;
	return 0;
}

int interrupt_look(struct interrupt *i, int tid, int64_t now, size_t waiting)
{
	if (now < i->next_us)
		return 0;
	i->next_us = now + LOOK_US * (1 + (int64_t)(waiting / LOOK_N));
	return look(tid, &i->seen);
}
