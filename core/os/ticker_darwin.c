/* ticker_darwin - EVFILT_TIMER of kqueue(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/ticker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/types.h>
#include <unistd.h>

int os_ticker_open(int every_ms)
{
	struct kevent change;
	int fd = kqueue(), r;

	EV_SET(&change, 1, EVFILT_TIMER, EV_ADD, 0, every_ms, NULL);
	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    kevent(fd, &change, 1, NULL, 0, NULL) == 0)
		return fd;
	r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

void os_ticker_read(int fd)
{
	const struct timespec now = {0};
	struct kevent got;

	(void)kevent(fd, NULL, 0, &got, 1, &now);
}
