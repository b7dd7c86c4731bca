/* signals_darwin - EVFILT_SIGNAL of kqueue(2), and sigwait(3) to take the signals. */
/* SPDX-License-Identifier: MIT */
#include "core/os/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/types.h>
#include <unistd.h>

int os_signals_open(const sigset_t *set)
{
	int fd = kqueue();

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	for (int sig = 1; sig < NSIG; sig++) {
		struct kevent change;

		if (sigismember(set, sig) != 1)
			continue;
		/* The filter does not see signals that are ignored by default, SIGCHLD above all,
		 * unless they have a handler or are blocked: this one is blocked. */
		EV_SET(&change, (uintptr_t)sig, EVFILT_SIGNAL, EV_ADD | EV_CLEAR, 0, 0, NULL);
		if (kevent(fd, &change, 1, NULL, 0, NULL) < 0) {
			int r = -errno;

			close(fd);
			return r;
		}
	}
	return fd;
}

int os_signals_next(int fd)
{
	const struct timespec now = {0};
	sigset_t waiting, one;
	struct kevent got;
	int sig;

	if (kevent(fd, NULL, 0, &got, 1, &now) <= 0)
		return 0;
	sig = (int)got.ident;
	/* A reported signal is still pending: it is taken here, or it would arrive when it is
	 * unblocked. */
	sigemptyset(&one);
	sigaddset(&one, sig);
	if (sigpending(&waiting) == 0 && sigismember(&waiting, sig) == 1)
		sigwait(&one, &sig);
	return sig;
}
