/* watchdog - the fence: a process that kills every process inside, in place of a pid 1. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/landlock/tier_priv.h"
#include "backends/linux/sandbox/landlock.h"
#include "core/base/io.h"

#define TRIES	 2500 /* of 2 ms; after that, processes that are stuck in the kernel are left */
#define PAUSE_NS 2000000

static void end_all(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	/* A fork cannot escape: the kernel signals all processes under one lock. */
	for (int i = 0; i < TRIES; i++) {
		kill(-1, SIGKILL);
		if (namespaces_count_inside(false) == 0)
			return;
		nanosleep(&pause, NULL);
	}
}

/*
 * Runs the fence in a copy of the keeper's memory. The copy was made while the keeper's other
 * thread waited, so the heap is consistent; it is used only at the very end.
 */
BORROWED_STACK static NORETURN void fence_run(const struct launch *l)
{
	struct note note = {.kind = NOTE_READY};
	struct pollfd p[2] = {{.fd = l->fence_sock, .events = POLLIN},
			      {.fd = -1, .events = POLLIN}};
	int sock = l->fence_sock;
	struct err err = {0};

	prctl(PR_SET_NAME, "cordon-fence");
	prctl(PR_SET_DUMPABLE, 0);
	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	if (confine_drop_all(&err) < 0)
		child_message_fail(sock, 125, &err);
	/* If this signal arrived, kill(-1) would reach processes outside. */
	if (kill(l->keeper, 0) == 0 || errno != EPERM) {
		err_say(&err, -EPERM, "Landlock does not keep signals in");
		child_message_fail(sock, 125, &err);
	}
	close_range((unsigned)sock + 1, ~0u, 0);
	close_range(0, (unsigned)sock - 1, 0);
	if (child_message_send(sock, &note, NULL, 0) < 0)
		_exit(125);
	while (poll(p, 2, -1) <= 0 || !sandbox_init_is_over(p))
		continue;
	end_all();
	_exit(io_remove_tree(AT_FDCWD, l->plan->own) < 0);
}

BORROWED_STACK int watchdog_fence(struct launch *l, struct err *err)
{
	int r = landlock_scope(err);

	if (r < 0)
		return r;
	l->fence_pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (l->fence_pid == 0)
		fence_run(l);
	return l->fence_pid < 0 ? err_set(err, -errno, "fork the sandbox's fence") : 0;
}
