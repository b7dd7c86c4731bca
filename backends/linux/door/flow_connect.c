/* flow_connect - a trapped connect(): to a host, which waits for the relay, or inside the sandbox.
 */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_flow.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "backends/linux/door/connecting.h"
#include "backends/linux/door/flow_priv.h"
#include "backends/linux/door/ports.h"
#include "backends/linux/door/request.h"
#include "backends/linux/net/gateway.h"
#include "core/base/clock.h"

#define WAITS_MAX 1024 /* connections that wait at the same time */

static int option(int sock, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(sock, level, name, &value, &len) < 0 ? -1 : value;
}

/* Returns whether no connect() of the socket has begun. */
static bool is_fresh(int sock)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return getsockopt(sock, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	       info.tcpi_state == TCP_CLOSE;
}

/* Returns whether the sandbox has the address itself. */
static bool stays_inside(const struct net_addr *a)
{
	return net_addr_class(a) == NET_LOOPBACK ||
	       (net_addr_is_v4(a) && (net_addr_as_v4(a) == 0 || net_addr_as_v4(a) == NET_INSIDE)) ||
	       memcmp(a->b, (uint8_t[16]){0}, 16) == 0;
}

/* Returns whether a rule gives access to this service on the host's loopback. Otherwise the
 * loopback is the sandbox's own. */
static bool is_shown(struct ldoor *d, const struct net_addr *a, uint16_t port)
{
	const struct policy *p = keeper_policy(d->k);
	struct net_target t = {.port = port};
	const char *reason;

	if (net_addr_class(a) != NET_LOOPBACK)
		return false;
	net_host_from_addr(&t.host, a);
	return policy_check_flow(p, RULE_CONNECT, &t, NULL, &reason) == POLICY_ALLOW &&
	       policy_check_address(p, RULE_CONNECT, a, port, &reason) == POLICY_ALLOW;
}

/* Connects to a port of the sandbox's own loopback. A program that gets no answer there may mean a
 * service of the host, such as a model's server. */
static int connect_inside(struct ldoor *d, struct request *r, int sock, const struct flow_wait *w)
{
	int got = connecting_now(d, r, sock, -1);
	/* A socket that does not block learns of the refusal later, but is closed already. */
	bool refused = got == -ECONNREFUSED || (got == -EINPROGRESS && is_fresh(sock));

	if (refused && !d->guest && !port_is_published_at(d, w->target.port) &&
	    flow_is_of_host(&w->at, w->target.port))
		flow_deny_local(d->k, &r->caller, &w->at, w->target.port);
	return got;
}

static int begin(struct ldoor *d, const struct request *r, int sock, const struct flow_wait *from)
{
	int got = gateway_start(d->gateway);
	struct flow_wait *w;
	uint64_t id = r->id;

	if (got < 0)
		return got;
	if (d->flows_len >= WAITS_MAX)
		return -EAGAIN;
	w = xmalloc(sizeof(*w));
	*w = *from;
	w->sock = fcntl(sock, F_DUPFD_CLOEXEC, 3);
	if (w->sock < 0) {
		free(w);
		return -ENOBUFS;
	}
	w->next = d->flows;
	w->d = d;
	w->id = id;
	w->tid = r->tid;
	w->call = r->call;
	w->dial = ++d->last_dial;
	w->interrupt.held = true;
	memcpy(w->args, r->args, sizeof(w->args));
	memcpy(&w->to, r->slot[SLOT_EXTRA].data, r->slot[SLOT_EXTRA].len);
	w->to_len = (socklen_t)r->slot[SLOT_EXTRA].len;
	d->flows = w;
	d->flows_len++;
	keeper_wake_at(d->k, clock_mono_us() + FLOW_CHECK_US);
	if (got > 0)
		flow_run(w);
	return DOOR_LATER;
}

int flow_connect(struct ldoor *d, struct request *r, int sock)
{
	const struct copy *c = &r->slot[SLOT_EXTRA];
	struct flow_wait w = {.stage = STAGE_START};
	struct sockaddr_storage sa = {0};
	int type = option(sock, SOL_SOCKET, SO_TYPE);

	memcpy(&sa, c->data, c->len);
	if (!d->gateway ||
	    !net_addr_from_sock(&w.at, &w.target.port, (struct sockaddr *)&sa, (socklen_t)c->len))
		return connecting_now(d, r, sock, -1);
	if (w.target.port == 0) /* no host can have a listener there */
		return type != SOCK_STREAM || stays_inside(&w.at) || !is_fresh(sock)
			       ? connecting_now(d, r, sock, -1)
			       : -ECONNREFUSED;
	w.loopback = type == SOCK_STREAM && is_shown(d, &w.at, w.target.port);
	if (stays_inside(&w.at) && !w.loopback)
		return connect_inside(d, r, sock, &w);
	/* A connect() of a datagram socket only sets the destination, which is the router; it drops
	 * the datagrams. Programs learn in this way which address they would have. */
	w.plain = type == SOCK_DGRAM;
	if (!w.plain && (type != SOCK_STREAM || !is_fresh(sock)))
		return connecting_now(d, r, sock, -1);
	if (!w.plain && option(sock, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	return begin(d, r, sock, &w);
}
