/* change_linux - inotify(7). */
/* SPDX-License-Identifier: MIT */
#include "core/os/change.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

int os_change_open(const char *path)
{
	int fd = inotify_init1(IN_CLOEXEC), r;

	if (fd >= 0 && inotify_add_watch(fd, path, IN_MODIFY) >= 0)
		return fd;
	r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int os_change_wait(int fd)
{
	char events[4096];

	return read(fd, events, sizeof(events)) < 0 && errno != EINTR ? -errno : 0;
}
