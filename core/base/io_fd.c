/* io_fd - descriptors: over sockets, locked, open at the start, of a pty. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/os/process.h"
#include "core/os/socket.h"

/* Room for the descriptors of one message; a union for its alignment. */
union control {
	char room[CMSG_SPACE(IO_FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

ssize_t io_send_fds(int sock, const void *data, size_t len, const int *fds, size_t n, int flags)
{
	union control control = {{0}};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t sent;

	if (n > IO_FDS_MAX)
		return -EINVAL;
	if (n) {
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, n * sizeof(int));
		msg.msg_control = control.room;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	do
		sent = sendmsg(sock, &msg, MSG_NOSIGNAL | flags);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

static int send_fd(int sock, const void *data, size_t len, int fd, int flags)
{
	ssize_t n = io_send_fds(sock, data, len, &fd, fd >= 0 ? 1 : 0, flags);

	return n < 0 ? (int)n : (size_t)n == len ? 0 : -EMSGSIZE;
}

int io_send_fd(int sock, const void *data, size_t len, int fd)
{
	return send_fd(sock, data, len, fd, 0);
}

int io_try_send_fd(int sock, const void *data, size_t len, int fd)
{
	return send_fd(sock, data, len, fd, MSG_DONTWAIT);
}

static void take_fds(struct cmsghdr *c, int *fds, size_t *n, size_t max)
{
	size_t got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < got; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		if (*n < max)
			fds[(*n)++] = fd;
		else
			close(fd);
	}
}

ssize_t io_recv_fds(int sock, void *data, size_t len, int *fds, size_t *n, size_t max, int flags)
{
	union control control;
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.room,
			     .msg_controllen = sizeof(control.room)};
	ssize_t got;

	do
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			take_fds(c, fds, n, max);
	return got;
}

static ssize_t recv_fd(int sock, void *data, size_t len, int *ret_fd, int flags)
{
	size_t n = 0;

	if (ret_fd)
		*ret_fd = -1;
	return io_recv_fds(sock, data, len, ret_fd, &n, ret_fd ? 1 : 0, flags);
}

ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd)
{
	return recv_fd(sock, data, len, ret_fd, 0);
}

ssize_t io_try_recv_fd(int sock, void *data, size_t len, int *ret_fd)
{
	return recv_fd(sock, data, len, ret_fd, MSG_DONTWAIT);
}

size_t io_raise_open_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return 1024;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	return lim.rlim_cur > SIZE_MAX ? SIZE_MAX : (size_t)lim.rlim_cur;
}

static int lock_as(int fd, int how, int ms)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

	for (int waited = 0; flock(fd, how | LOCK_NB) < 0; waited += 10) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || waited >= ms)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int io_lock(int fd)
{
	return lock_as(fd, LOCK_EX, 1000);
}

int io_lock_within(int fd, int ms)
{
	return lock_as(fd, LOCK_EX, ms);
}

int io_lock_shared(int fd)
{
	return lock_as(fd, LOCK_SH, 1000);
}

int io_hold_stdio(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	}
	return 0;
}

void io_close_all_but(int from, const int *keep, size_t n)
{
	for (;;) {
		int next = INT_MAX;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= from)
				next = MIN(next, keep[i]);
		if (next > from)
			os_close_range((unsigned)from, next == INT_MAX ? ~0u : (unsigned)next - 1);
		if (next == INT_MAX)
			return;
		from = next + 1;
	}
}

static int open_slave(int master)
{
	char name[64];
	int fd = -1;

#ifdef TIOCGPTPEER /* Linux 4.13; needs no path to the pty */
	fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
#endif
	if (fd < 0 && ptsname_r(master, name, sizeof(name)) == 0)
		fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int io_open_pty(int *ret_slave)
{
	AUTO_CLOSE int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	AUTO_CLOSE int slave = -1;
	struct termios tio;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -errno;
	slave = open_slave(master);
	if (slave < 0)
		return slave;
	if (tcgetattr(slave, &tio) == 0) {
		tio.c_iflag |= IUTF8;
		tcsetattr(slave, TCSANOW, &tio);
	}
	*ret_slave = take_fd(&slave);
	return take_fd(&master);
}

int io_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int io_set_cloexec(int fd, bool on)
{
	return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0) < 0 ? -errno : 0;
}
