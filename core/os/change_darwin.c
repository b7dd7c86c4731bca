/* change_darwin - EVFILT_VNODE of kqueue(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/change.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/types.h>
#include <unistd.h>

/* The file stays open, as the process ends with the wait. */
int os_change_open(const char *path)
{
	int file = open(path, O_EVTONLY | O_CLOEXEC), fd = file < 0 ? -1 : kqueue(), r;
	struct kevent change;

	EV_SET(&change, (uintptr_t)file, EVFILT_VNODE, EV_ADD | EV_CLEAR, NOTE_WRITE | NOTE_EXTEND,
	       0, NULL);
	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    kevent(fd, &change, 1, NULL, 0, NULL) == 0)
		return fd;
	r = -errno;
	if (file >= 0)
		close(file);
	if (fd >= 0)
		close(fd);
	return r;
}

int os_change_wait(int fd)
{
	struct kevent got;

	return kevent(fd, NULL, 0, &got, 1, NULL) < 0 && errno != EINTR ? -errno : 0;
}
