/* calls_connect - performs connect() for every kind of socket. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_connect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/calls_flow.h"
#include "backends/linux/door/calls_peer.h"
#include "backends/linux/door/calls_shared.h"
#include "backends/linux/door/calls_socket.h"
#include "backends/linux/door/connecting.h"
#include "backends/linux/door/finish.h"
#include "backends/linux/door/parked.h"
#include "backends/linux/door/state.h"
#include "core/keeper/keeper.h"

#define NAME_PORT 53

int prepare_connect(struct ldoor *d, struct request *r)
{
	int got = socket_address(d, r);

	if (got < 0)
		return got;
	if (socket_pathname(r))
		r->how[0] = HOW_OBJECT;
	return 0;
}

static bool abstract(const struct copy *c)
{
	sa_family_t family = AF_UNSPEC;

	if (c->len > offsetof(struct sockaddr_un, sun_path))
		memcpy(&family, c->data, sizeof(family));
	return family == AF_UNIX && c->data[offsetof(struct sockaddr_un, sun_path)] == '\0';
}

/* Reports a connection that failed because the sandbox has no network: only loopback is reachable,
 * and no name server. */
static void tell_network(struct ldoor *d, const struct request *r, int family, int got)
{
	const struct copy *to = &r->slot[SLOT_EXTRA];
	struct sockaddr_storage at = {0};
	char host[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 16];
	const void *address = &((struct sockaddr_in *)&at)->sin_addr;
	int port;

	if ((family != AF_INET && family != AF_INET6) || to->len > sizeof(at))
		return;
	memcpy(&at, to->data, to->len);
	if (at.ss_family != family)
		return;
	port = ntohs(((struct sockaddr_in *)&at)->sin_port); /* IPv6 has it at the same offset */
	if (family == AF_INET6)
		address = &((struct sockaddr_in6 *)&at)->sin6_addr;
	if ((got != -ENETUNREACH && port != NAME_PORT) ||
	    !inet_ntop(family, address, host, sizeof(host)))
		return;
	snprintf(text, sizeof(text), family == AF_INET6 ? "[%s]:%d" : "%s:%d", host, port);
	keeper_deny(d->k, &r->caller, text, -ENETUNREACH,
		    port == NAME_PORT ? "looks a name up, and there is no network: --network ask"
				      : "there is no network: --network ask");
}

int perform_connect(struct ldoor *d, struct request *r)
{
	AUTO_CLOSE int sock = request_fd(d, r, (int)r->args[0]);
	int family = 0, got;

	if (sock < 0)
		return sock;
	got = socket_family(sock, &family);
	if (got == 0 && family == AF_UNIX && r->how[0] != HOW_NONE)
		got = peer_find(d, r);
	if (got < 0)
		return got;
	if (family == AF_UNIX && r->opened < 0 && (d->spec.allow_network || d->spec.alone) &&
	    abstract(&r->slot[SLOT_EXTRA])) {
		keeper_deny(d->k, &r->caller, "", -EPERM, "an abstract socket of the host");
		return -EPERM;
	}
	if (d->spec.windowed && (family == AF_INET || family == AF_INET6))
		return shared_connect(d, r, sock);
	if (d->gateway && (family == AF_INET || family == AF_INET6))
		return flow_connect(d, r, sock);
	got = connecting_now(d, r, sock, r->opened);
	if (!d->spec.allow_network)
		tell_network(d, r, family, got);
	return got;
}

/* Connects to r->opened, after an answer. */
static int connect_opened(struct ldoor *d, struct request *r)
{
	AUTO_CLOSE int sock = request_fd(d, r, (int)r->args[0]);
	int family = 0, got;

	if (sock < 0)
		return sock;
	got = socket_family(sock, &family);
	if (got < 0)
		return got;
	/* The descriptor's number may be another socket's since the question. */
	return family == AF_UNIX ? connecting_now(d, r, sock, r->opened) : -EAFNOSUPPORT;
}

void connect_answered(struct ldoor *d, const struct parked *p, enum door_verdict verdict,
		      int *opened)
{
	struct request *r = &d->scratch->now;
	int got = verdict == VERDICT_DENY ? -EACCES : verdict == VERDICT_STOP ? -EPERM : 0;

	if (got < 0) {
		door_answer(d, p->id, got);
		return;
	}
	parked_load(d, r, p);
	r->opened = take_fd(opened);
	got = keeper_caller(d->k, r->tid, &r->caller);
	if (got < 0 || request_alive(d, r) < 0) {
		request_finish(d, r, DOOR_DEAD);
		return;
	}
	r->caller.door = &d->door;
	r->caller.request = r->id;
	r->caller.op = r->call->name;
	if (verdict != VERDICT_ALLOW)
		got = peer_ask(d, r, r->shown[0].text);
	request_finish(d, r, got == 0 ? connect_opened(d, r) : got);
}
