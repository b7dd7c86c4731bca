/* selfcheck - tries the deny rules from inside before the agent starts. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"

/*
 * Runs in the agent's process, under all confinement but the system-call filter: so it tries the
 * floor, which answers a call without the keeper. If a rule does not hold, the start fails.
 */

static int check_hidden(const struct plan_probe *p, struct err *err)
{
	struct stat st;
	int fd;

	if (!p->blank) {
		if (lstat(p->path, &st) < 0 &&
		    (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
			return 0;
		return err_say(err, -EPERM, "self-check: '%s' can be seen inside the sandbox",
			       p->path);
	}
	fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	close(fd);
	return err_say(err, -EPERM, "self-check: '%s' can be read inside the sandbox", p->path);
}

static int check_sealed(const char *tree, bool mounts, struct err *err)
{
	char path[4096];
	struct statvfs fs;
	int fd, n;

	n = snprintf(path, sizeof(path), "%s/.cordon-probe-%x", tree, (unsigned)getpid());
	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(err, -ENAMETOOLONG, "self-check '%s'", tree);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		close(fd);
		unlink(path);
		return err_say(err, -EPERM, "self-check: '%s' can be written inside the sandbox",
			       tree);
	}
	if (errno == EROFS || !mounts) /* refused; without mounts any error is enough */
		return 0;
	/* If this user may not enter the directory, the error proves nothing: check its mount. */
	if (statvfs(tree, &fs) < 0 || (fs.f_flag & ST_RDONLY))
		return 0;
	return err_say(err, -EPERM, "self-check: '%s' is not mounted read-only inside the sandbox",
		       tree);
}

/* Returns whether the connection ends in the sandbox: router_prepare_inside() routes it to the
 * loopback device, which alone has this address. */
static bool ends_here(int fd)
{
	struct sockaddr_in own = {0};
	socklen_t len = sizeof(own);

	return getsockname(fd, (struct sockaddr *)&own, &len) == 0 && own.sin_family == AF_INET &&
	       ntohl(own.sin_addr.s_addr) == NET_INSIDE;
}

static int check_unreachable(const struct sockaddr *addr, socklen_t len, struct err *err)
{
	int fd = socket(addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r;

	/* Without IPv6 in this kernel there is nothing to check. */
	if (fd < 0)
		return 0;
	r = connect(fd, addr, len) < 0 || ends_here(fd) ? -1 : 0;
	close(fd);
	if (r == 0)
		return err_say(err, -EPERM,
			       "self-check: the network can be reached inside the "
			       "sandbox, although it was not allowed");
	return 0;
}

static int check_network(struct err *err)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
	int r;

	/* Documentation addresses (RFC 5737, 3849). A datagram socket sends nothing on connect. */
	inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
	inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
	r = check_unreachable((const struct sockaddr *)&v4, sizeof(v4), err);
	if (r == 0)
		r = check_unreachable((const struct sockaddr *)&v6, sizeof(v6), err);
	return r;
}

/* Checks what namespaces would separate: signals to processes outside, and their memory. */
static int check_alone(const struct launch *l, struct err *err)
{
	char path[64];
	int fd;

	if (kill(l->keeper, 0) == 0 || errno != EPERM)
		return err_say(err, -EPERM,
			       "self-check: a process outside the sandbox can be signalled");
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)l->keeper);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	close(fd);
	return err_say(err, -EPERM, "self-check: a process outside the sandbox can be looked into");
}

int selfcheck_filter(const struct launch *l, struct err *err)
{
	static const int families[] = {AF_INET, AF_INET6, AF_NETLINK};

	for (size_t i = 0; l->filter.alone && !l->spec->allow_network && i < ARRAY_LEN(families);
	     i++) {
		int fd = socket(families[i], SOCK_DGRAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			continue;
		close(fd);
		return err_say(err, -EPERM,
			       "self-check: a network socket can be made inside the sandbox");
	}
	return 0;
}

int selfcheck_run(const struct launch *l, struct err *err)
{
	int r = 0;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return err_say(err, -EPERM, "self-check: no_new_privs is not set");
	for (size_t i = 0; i < l->plan->n_probes && r == 0; i++)
		r = check_hidden(&l->plan->probes[i], err);
	for (size_t i = 0; i < l->plan->n_sealed && r == 0; i++)
		r = check_sealed(l->plan->sealed[i], !l->plan->own, err);
	if (r == 0 && l->filter.alone)
		return check_alone(l, err);
	if (r == 0 && !l->spec->allow_network)
		r = check_network(err);
	return r;
}
