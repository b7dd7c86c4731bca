/* ticker_linux - timerfd_create(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/ticker.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int os_ticker_open(int every_ms)
{
	const struct timespec turn = {every_ms / 1000, every_ms % 1000 * 1000000L};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), r;

	if (fd >= 0 && timerfd_settime(fd, 0, &(struct itimerspec){turn, turn}, NULL) == 0)
		return fd;
	r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

void os_ticker_read(int fd)
{
	uint64_t turns;

	(void)!read(fd, &turns, sizeof(turns));
}
