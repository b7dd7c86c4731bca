/* steps - forwards requests of the guest's programs about steps to the host, and the answers
 * back. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Programs ask on a socket, instead of by a trapped call as on the host (core/keeper/service.h). A
 * connection carries one request and one answer. The kernel gives the caller's pid.
 */

#define REQUEST_MAX 1024

static struct {
	int listener;
	struct asker {
		int fd; /* -1: none */
		long id;
		bool asked; /* the host has the request */
	} list[ASKERS];
	long last;
} a;

void steps_open(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "/run/cordon/step.socket"};

	for (size_t i = 0; i < ASKERS; i++)
		a.list[i].fd = -1;
	a.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a.listener < 0 || bind(a.listener, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
	    chmod(at.sun_path, 0666) < 0 || listen(a.listener, ASKERS) < 0)
		console_say("cordon: no requests about steps: the socket cannot be made");
}

static void drop(struct asker *k)
{
	close(k->fd);
	k->fd = -1;
}

void steps_watch(struct pollfd p[1 + ASKERS])
{
	for (size_t i = 0; i < ASKERS; i++) {
		p[1 + i].fd = a.list[i].asked ? -1 : a.list[i].fd;
		if (a.list[i].fd < 0)
			p[0].fd = a.listener; /* accept only if a slot is free */
	}
}

static void take(void)
{
	size_t i = 0;

	while (i < ASKERS && a.list[i].fd >= 0)
		i++;
	if (i == ASKERS)
		return;
	a.list[i] =
		(struct asker){.fd = accept4(a.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK),
			       .id = ++a.last};
}

static void pass(struct asker *k)
{
	static unsigned char request[REQUEST_MAX];
	ssize_t n = recv(k->fd, request, sizeof(request), 0);
	struct ucred who;
	socklen_t len = sizeof(who);
	char *out = shim_room(OUTPUT_ROOM(REQUEST_MAX));

	if (n <= 0 || !out || getsockopt(k->fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0) {
		drop(k);
		return;
	}
	procs_read();
	procs_tell(who.pid);
	out = shim_room(OUTPUT_ROOM(REQUEST_MAX));
	if (!out) {
		drop(k);
		return;
	}
	shim_said(wire_step(out, k->id, who.pid, request, (size_t)n));
	k->asked = true;
}

void steps_serve(const struct pollfd p[1 + ASKERS])
{
	for (size_t i = 0; i < ASKERS; i++)
		if (p[1 + i].revents && a.list[i].fd >= 0)
			pass(&a.list[i]);
	if (p[0].revents)
		take();
}

void steps_answer(const struct message *m)
{
	for (size_t i = 0; i < ASKERS; i++) {
		struct asker *k = &a.list[i];

		if (k->fd < 0 || !k->asked || k->id != m->id)
			continue;
		if (m->data && send(k->fd, m->data, m->data_len, MSG_NOSIGNAL) < 0)
			console_say("cordon: an answer about a step was lost");
		drop(k);
	}
}
