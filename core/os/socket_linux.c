/* socket_linux - the identity of a socket's peer, and the socket's family. */
/* SPDX-License-Identifier: MIT */
#include "core/os/socket.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

int os_peer_uid(int fd, uid_t *ret)
{
	struct ucred who = {0};
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	*ret = who.uid;
	return 0;
}

int os_peer_pid(int fd, pid_t *ret)
{
	struct ucred who = {0};
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	*ret = who.pid;
	return 0;
}

int os_socket_family(int fd)
{
	int family = 0;
	socklen_t len = sizeof(family);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0 ? -errno : family;
}

size_t os_socket_unread(int fd)
{
	int n = 0;

	return ioctl(fd, SIOCOUTQ, &n) < 0 || n < 0 ? 0 : (size_t)n;
}
