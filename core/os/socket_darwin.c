/* socket_darwin - sockets and pipes with flags, and the identity of peers, on macOS. */
/* SPDX-License-Identifier: MIT */
#include "core/os/socket.h"

#include <errno.h>
#include <sys/un.h>

#undef socket
#undef socketpair

#define FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)

static int set_flags(int fd, int cloexec, int nonblock)
{
	int on = 1;

	/* Older systems lack MSG_NOSIGNAL. */
	setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
	if (cloexec && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return nonblock ? fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) : 0;
}

static int finish(int fd, int type)
{
	int e;

	if (fd < 0 || set_flags(fd, type & SOCK_CLOEXEC, type & SOCK_NONBLOCK) == 0)
		return fd;
	e = errno;
	close(fd);
	errno = e;
	return -1;
}

static int both(int fds[2], int cloexec, int nonblock)
{
	int e;

	if (set_flags(fds[0], cloexec, nonblock) == 0 && set_flags(fds[1], cloexec, nonblock) == 0)
		return 0;
	e = errno;
	close(fds[0]);
	close(fds[1]);
	errno = e;
	return -1;
}

int os_socket(int family, int type, int protocol)
{
	return finish(socket(family, type & ~FLAGS, protocol), type);
}

int os_socketpair(int family, int type, int protocol, int fds[2])
{
	if (socketpair(family, type & ~FLAGS, protocol, fds) < 0)
		return -1;
	return both(fds, type & SOCK_CLOEXEC, type & SOCK_NONBLOCK);
}

int pipe2(int fds[2], int flags)
{
	return pipe(fds) < 0 ? -1 : both(fds, flags & O_CLOEXEC, flags & O_NONBLOCK);
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	return finish(accept(fd, addr, len), flags);
}

int os_peer_uid(int fd, uid_t *ret)
{
	gid_t gid;

	return getpeereid(fd, ret, &gid) < 0 ? -errno : 0;
}

int os_peer_pid(int fd, pid_t *ret)
{
	socklen_t len = sizeof(*ret);

	return getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, ret, &len) < 0 ? -errno : 0;
}

int os_socket_family(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &len) < 0 ? -errno : at.ss_family;
}

size_t os_socket_unread(int fd)
{
	int n = 0;
	socklen_t len = sizeof(n);

	return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &n, &len) < 0 || n < 0 ? 0 : (size_t)n;
}
