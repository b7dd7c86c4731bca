/* calls_socket - copies addresses of sockets; bind of AF_UNIX names. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/calls_peer.h"
#include "backends/linux/door/calls_shared.h"
#include "backends/linux/door/dirs.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/keeper/keeper.h"

/*
 * Refuses AF_UNIX datagram sockets, and tells the user why. sendto() and sendmsg() name the peer in
 * the caller's memory, also for connected sockets. So only the keeper could safely send to an
 * address that it has judged, and it would have to handle every message, those of streams too:
 * after a look at a descriptor another thread may put another socket there. No mount, and no
 * Landlock up to Linux 6.18, keeps such a name from reaching a socket of the host.
 */
int prepare_datagram(struct ldoor *d, struct request *r)
{
	if (request_alive(d, r) == 0)
		keeper_deny(d->k, &r->caller, "", -EACCES,
			    "datagram sockets of AF_UNIX: whom they send to cannot be decided on");
	return -EACCES;
}

/*
 * Makes a socket pair, which needs no names, of type SOCK_SEQPACKET: it keeps message boundaries
 * and ignores the address in sendmsg(). It differs from datagrams only at the end: when one side is
 * closed the other reads end of file, as with a stream. A caller that could be interrupted between
 * the two descriptors gets no pair.
 */
int prepare_pair(struct ldoor *d, struct request *r)
{
	const int type = (int)r->args[1], protocol = (int)r->args[2];
	const int flags = type & ~0xf, known = SOCK_CLOEXEC | SOCK_NONBLOCK;
	int sv[2], in[2] = {-1, -1}, got;

	if (!d->wait_killable)
		return prepare_datagram(d, r);
	if (flags & ~known)
		return -EINVAL;
	if (protocol != 0 && protocol != PF_UNIX)
		return -EPROTONOSUPPORT;
	if (request_alive(d, r) < 0)
		return DOOR_DEAD;
	got = request_write(r, r->args[3], in, sizeof(in));
	if (got < 0)
		return got;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (flags & SOCK_NONBLOCK), 0, sv) < 0)
		return -errno;
	for (int i = 0; i < 2 && got == 0; i++) {
		in[i] = door_add(d, r->id, flags & SOCK_CLOEXEC ? O_CLOEXEC : 0, sv[i]);
		got = MIN(in[i], 0);
	}
	close(sv[0]);
	close(sv[1]);
	if (got == 0)
		got = request_write(r, r->args[3], in, sizeof(in));
	return got == -ENOENT ? DOOR_DEAD : got < 0 ? got : DOOR_NOTHING;
}

int socket_address(struct ldoor *d, struct request *r)
{
	int len = (int)r->args[2];

	if (len < 0 || (size_t)len > sizeof(struct sockaddr_storage))
		return -EINVAL;
	return request_mem(d, r, SLOT_EXTRA, r->args[1], (size_t)len);
}

int socket_family(int sock, int *family)
{
	socklen_t len = sizeof(*family);

	return getsockopt(sock, SOL_SOCKET, SO_DOMAIN, family, &len) < 0 ? -errno : 0;
}

/* Copies an AF_UNIX address that names a file: the name becomes the request's path. */
bool socket_pathname(struct request *r)
{
	const struct copy *c = &r->slot[SLOT_EXTRA];
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	struct copy *path = &r->slot[SLOT_PATH];
	sa_family_t family;

	if (c->len <= head)
		return false;
	memcpy(&family, c->data, sizeof(family));
	if (family != AF_UNIX || c->data[head] == '\0' || c->len > sizeof(struct sockaddr_un))
		return false;
	path->len = strnlen(c->data + head, c->len - head);
	memcpy(path->data, c->data + head, path->len);
	path->data[path->len] = '\0';
	path->have = true;
	return true;
}

int prepare_bind(struct ldoor *d, struct request *r)
{
	int got = socket_address(d, r);

	if (got < 0)
		return got == DOOR_DEAD ? got : DOOR_CONTINUE;
	/* Network addresses and abstract names stay in the sandbox's own network, if it has one. */
	if (!socket_pathname(r))
		return d->spec.windowed ? shared_bind(d, r) : DOOR_CONTINUE;
	r->how[0] = HOW_NAME;
	return 0;
}

/* Returns the keeper's directory in which a relative address begins, or -1 if the address is
 * absolute or the directory is unknown. */
static int address_base(struct ldoor *d, const struct request *r)
{
	const char *path = r->slot[SLOT_PATH].data;
	struct folder *folder;
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	if (path[0] == '/')
		return -1;
	if (strchr(path, '/') == NULL)
		return r->place[0]->at.dirfd;
	fd = proc_dir(d, r->tid, false);
	n = readlinkat(fd, "cwd", text, sizeof(text) - 1);
	if (n < 0 || fstatat(fd, "cwd", &st, 0) < 0)
		return -1;
	text[n] = '\0';
	return dir_open(d, &st, text, &folder, &fd) < 0 ? -1 : fd;
}

int perform_bind(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int family = 0, got;
	AUTO_CLOSE int sock = -1;

	if (p->folder == NULL) {
		got = place_outside(d, &r->caller, p);
		return got == 0 ? DOOR_CONTINUE : place_granted(got);
	}
	sock = request_fd(d, r, (int)r->args[0]);
	if (sock < 0)
		return sock;
	got = socket_family(sock, &family);
	if (got < 0)
		return got;
	if (family != AF_UNIX)
		return DOOR_CONTINUE; /* the kernel returns an error */
	got = folder_bind(p->folder, &r->caller, sock, &p->at, address_base(d, r),
			  r->slot[SLOT_PATH].data);
	if (got == 0)
		peer_bound(d, p);
	return got;
}
