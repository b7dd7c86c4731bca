/* trace - kills between two instructions, by count: the n-th system call, and m instructions. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/model/worker.h"

/* Stops are counted while the worker performs an act, not while it waits for the next. */

static bool wait_stop(struct worker *w)
{
	int status;

	return waitpid(w->pid, &status, __WALL) == w->pid && WIFSTOPPED(status);
}

static void go_on(struct worker *w, int how)
{
	if (ptrace((enum __ptrace_request)how, w->pid, NULL, NULL) < 0 && errno != ESRCH)
		abort();
}

void trace_begin(struct worker *w)
{
	if (ptrace(PTRACE_SEIZE, w->pid, NULL, (void *)(long)PTRACE_O_EXITKILL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, w->pid, NULL, NULL) < 0 || !wait_stop(w)) {
		perror("ptrace");
		exit(2);
	}
	w->traced = true;
	go_on(w, PTRACE_SYSCALL);
}

void trace_end(struct worker *w)
{
	if (ptrace(PTRACE_INTERRUPT, w->pid, NULL, NULL) == 0 && wait_stop(w))
		ptrace(PTRACE_DETACH, w->pid, NULL, NULL);
	w->traced = false;
}

static int die(struct worker *w)
{
	for (unsigned i = 0; i < w->steps && w->sh->busy; i++) {
		go_on(w, PTRACE_SINGLESTEP);
		if (!wait_stop(w))
			return -EPIPE;
	}
	w->calls = 0;
	kill(w->pid, SIGKILL);
	return -EPIPE;
}

int trace_run(struct worker *w)
{
	for (;;) {
		bool busy;

		if (!wait_stop(w))
			return -EPIPE;
		busy = w->sh->busy;
		if (busy && w->calls-- == 1)
			return die(w);
		go_on(w, PTRACE_SYSCALL);
		if (!busy)
			return 0;
	}
}
