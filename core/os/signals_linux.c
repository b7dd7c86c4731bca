/* signals_linux - signalfd(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int os_signals_open(const sigset_t *set)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int os_signals_next(int fd)
{
	struct signalfd_siginfo si;

	return read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si) ? (int)si.ssi_signo : 0;
}
