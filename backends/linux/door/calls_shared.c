/* calls_shared - connect, bind and listen if the agent shares the host's network. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_shared.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/connecting.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/proxy/proxy.h"
#include "core/keeper/flows.h"
#include "core/keeper/keeper.h"
#include "core/net/window.h"

/*
 * Every call is performed here, on a duplicate of the caller's socket and a copy of the address, so
 * that no other thread can replace either. Without namespaces Landlock lets the agent itself
 * neither connect nor bind. It may connect to the proxy (proxy.h), to loopback addresses that a
 * rule names, and to the session's own listeners.
 *
 * It listens at the ports of its window (core/net/window.h), at its loopback address. Other ports
 * that a program names are refused or mapped to the window, by the strategy. A socket that listens
 * without bind() would get a port of all addresses, so it is bound first.
 */
struct ports {
	/* Ports that the session has bound, and at which address. */
	enum {
		NOT_OURS,
		AT_DEVICE,
		AT_SIX,	 /* ::1 */
		AT_NAMED /* allowed by a rule */
	} ours[1 << 16];
	uint16_t mapped[1 << 16]; /* by the port that a program named; 0: not mapped */
};

/* A socket's address. */
struct spot {
	struct net_addr addr;
	uint16_t port;
};

static const struct net_addr six_loopback = {.b = {[15] = 1}};

static bool address_of(const struct request *r, struct spot *ret)
{
	const struct copy *c = &r->slot[SLOT_EXTRA];
	struct sockaddr_storage sa = {0};

	memcpy(&sa, c->data, MIN(c->len, sizeof(sa)));
	return net_addr_from_sock(&ret->addr, &ret->port, (struct sockaddr *)&sa,
				  (socklen_t)c->len);
}

/* Writes the address for a socket of that family. An IPv6 socket takes both kinds. */
static socklen_t to_sock(const struct spot *s, int family, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(s->port)};

	if (family == AF_INET)
		return net_addr_to_sock(&s->addr, s->port, ret);
	memcpy(&six.sin6_addr, s->addr.b, sizeof(s->addr.b));
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, &six, sizeof(six));
	return sizeof(six);
}

static void spot_text(const struct spot *s, char out[NET_TARGET_TEXT])
{
	struct net_target t = {.port = s->port};

	net_host_from_addr(&t.host, &s->addr);
	net_target_format(&t, out);
}

static bool is_any(const struct net_addr *a)
{
	return memcmp(a->b, (uint8_t[16]){0}, 16) == 0 ||
	       (net_addr_is_v4(a) && net_addr_as_v4(a) == INADDR_ANY);
}

static bool is_local(const struct net_addr *a)
{
	return is_any(a) || net_addr_class(a) == NET_LOOPBACK;
}

static struct ports *ports_of(struct ldoor *d)
{
	if (!d->ports)
		d->ports = xcalloc(1, sizeof(*d->ports));
	return d->ports;
}

static int option(int sock, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = 0;

	return getsockopt(sock, level, name, &value, &len) < 0 ? 0 : value;
}

/* Returns the verdict of rules about this address: allow, deny, or ask if no rule matches. */
static enum policy_verdict ruled(struct ldoor *d, enum rule_kind kind, const struct spot *s)
{
	const struct policy *p = keeper_policy(d->k);
	struct net_target t = {.port = s->port};
	const char *reason;
	enum policy_verdict v;

	net_host_from_addr(&t.host, &s->addr);
	v = policy_check_flow(p, kind, &t, NULL, &reason);
	if (v != POLICY_ALLOW)
		return v;
	return policy_check_address(p, kind, &s->addr, s->port, &reason);
}

static void tell_rewrite(struct ldoor *d, const struct request *r, const char *op,
			 const struct spot *from, const struct spot *to)
{
	char was[NET_TARGET_TEXT], is[NET_TARGET_TEXT];

	spot_text(from, was);
	spot_text(to, is);
	flow_rewritten(d->k, &r->caller, op, was, is);
}

/* ---- connect --------------------------------------------------------------------------------- */

/* Tells the proxy which process connects from this socket's port. */
static void expect(struct ldoor *d, const struct request *r, int sock)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);
	struct spot at;

	if (getsockname(sock, (struct sockaddr *)&own, &len) == 0 &&
	    net_addr_from_sock(&at.addr, &at.port, (struct sockaddr *)&own, len) && at.port)
		proxy_door_expect(d->floor.proxy, at.port, r->caller.pid);
}

/* Finds the session's own listener for this address, mapped or not. */
static bool find_own(struct ldoor *d, int family, const struct spot *at, struct spot *to)
{
	const struct net_window *w = &d->floor.window;

	*to = *at;
	if (!w->on || !d->ports || !is_local(&at->addr))
		return false;
	if (d->ports->mapped[at->port])
		to->port = d->ports->mapped[at->port];
	if (!d->ports->ours[to->port] || d->ports->ours[to->port] == AT_NAMED)
		return false;
	to->addr = d->ports->ours[to->port] == AT_SIX ? six_loopback : w->device;
	/* At another loopback address another user's server may have the same port. */
	if (w->strategy == WINDOW_FAIL)
		return net_addr_eq(&at->addr, &to->addr);
	return family == AF_INET6 || net_addr_is_v4(&to->addr);
}

static int connect_own(struct ldoor *d, struct request *r, int sock, const struct spot *at,
		       const struct spot *to)
{
	struct copy *c = &r->slot[SLOT_EXTRA];
	struct sockaddr_storage sa;
	int family = option(sock, SOL_SOCKET, SO_DOMAIN);

	if (net_addr_eq(&at->addr, &to->addr) && at->port == to->port)
		return connecting_now(d, r, sock, -1);
	c->len = to_sock(to, family, &sa);
	memcpy(c->data, &sa, c->len);
	tell_rewrite(d, r, "connect", at, to);
	return connecting_now(d, r, sock, -1);
}

int shared_connect(struct ldoor *d, struct request *r, int sock)
{
	const struct net_addr proxy = net_addr_v4(INADDR_LOOPBACK);
	char text[NET_TARGET_TEXT];
	struct spot at, to;
	int family = option(sock, SOL_SOCKET, SO_DOMAIN), got;

	/* AF_UNSPEC connects to nothing: an existing connection stays. */
	if (!address_of(r, &at))
		return d->floor.proxy ? -EAFNOSUPPORT : connecting_now(d, r, sock, -1);
	if (d->floor.proxy && net_addr_eq(&at.addr, &proxy) &&
	    at.port == proxy_door_port(d->floor.proxy)) {
		got = connecting_now(d, r, sock, -1);
		if (got == 0 || got == -EINPROGRESS || got == DOOR_LATER)
			expect(d, r, sock);
		return got;
	}
	if (find_own(d, family, &at, &to))
		return connect_own(d, r, sock, &at, &to);
	if (!d->floor.proxy || (net_addr_class(&at.addr) == NET_LOOPBACK &&
				ruled(d, RULE_CONNECT, &at) == POLICY_ALLOW))
		return connecting_now(d, r, sock, -1);
	if (flow_is_of_host(&at.addr, at.port)) {
		flow_deny_local(d->k, &r->caller, &at.addr, at.port);
		return -EACCES;
	}
	spot_text(&at, text);
	keeper_deny(d->k, &r->caller, text, -EACCES,
		    "hosts are reached through the proxy of HTTPS_PROXY and ALL_PROXY here");
	return -EACCES;
}

/* ---- bind ------------------------------------------------------------------------------------ */

static int refuse(struct ldoor *d, const struct request *r, const struct spot *at, const char *why)
{
	const struct net_window *w = &d->floor.window;
	char text[NET_TARGET_TEXT], words[128];

	spot_text(at, text);
	if (!why) {
		snprintf(words, sizeof(words), "this session listens at ports %u to %u only",
			 w->base, w->base + w->count - 1u);
		why = words;
	}
	keeper_deny(d->k, &r->caller, text, -EACCES, why);
	return -EACCES;
}

static int bind_at(struct ldoor *d, int sock, const struct spot *at)
{
	struct sockaddr_storage sa;
	socklen_t len = to_sock(at, option(sock, SOL_SOCKET, SO_DOMAIN), &sa);

	if (bind(sock, (struct sockaddr *)&sa, len) < 0)
		return -errno;
	ports_of(d)->ours[at->port] = net_addr_eq(&at->addr, &six_loopback)		? AT_SIX
				      : net_addr_eq(&at->addr, &d->floor.window.device) ? AT_DEVICE
											: AT_NAMED;
	return 0;
}

/* Binds a free port of the window, and sets at->port. */
static int bind_any(struct ldoor *d, int sock, struct spot *at)
{
	const struct net_window *w = &d->floor.window;
	int got = -EADDRINUSE;

	for (uint16_t i = 0; i < w->count && got == -EADDRINUSE; i++) {
		at->port = (uint16_t)(w->base + i);
		got = bind_at(d, sock, at);
	}
	return got;
}

/* Sets *to to the address to bind. Returns why it is refused, or NULL. */
static const char *choose_address(struct ldoor *d, int sock, const struct spot *at, struct spot *to)
{
	const struct net_window *w = &d->floor.window;
	/* A socket for both families listens at the IPv4 loopback address, mapped into IPv6. */
	const bool six = !net_addr_is_v4(&at->addr) &&
			 (!is_any(&at->addr) || option(sock, IPPROTO_IPV6, IPV6_V6ONLY));

	*to = *at;
	if (!is_local(&at->addr))
		return "this session listens at its loopback address only";
	if (w->strategy == WINDOW_FAIL) {
		if (is_any(&at->addr))
			return "other machines could reach it: listen at a loopback address";
		if (w->own_device
			    ? !net_addr_eq(&at->addr, &w->device)
			    : net_addr_is_v4(&at->addr) && !net_addr_eq(&at->addr, &w->device))
			return "this session listens at another loopback address: see "
			       "LISTENING_LOOPBACK_DEVICE";
		return NULL;
	}
	to->addr = six && !w->own_device ? six_loopback : w->device;
	return NULL;
}

static int bind_mapped(struct ldoor *d, int sock, uint16_t named, struct spot *to)
{
	uint16_t *slot = &ports_of(d)->mapped[named];
	int got;

	if (*slot) {
		to->port = *slot;
		return bind_at(d, sock, to);
	}
	got = bind_any(d, sock, to);
	if (got == 0)
		*slot = to->port;
	return got;
}

static int bind_here(struct ldoor *d, struct request *r, int sock, struct spot *at)
{
	const struct net_window *w = &d->floor.window;
	struct spot to;
	const char *why = choose_address(d, sock, at, &to);
	/* Rules name a port, so none matches port 0. */
	enum policy_verdict v = at->port ? ruled(d, RULE_BIND, at) : POLICY_ASK;
	int got;

	if (v == POLICY_ALLOW)
		return bind_at(d, sock, at);
	if (v == POLICY_DENY)
		why = "a rule denies it";
	if (why)
		return refuse(d, r, at, why);
	if (at->port == 0)
		got = bind_any(d, sock, &to);
	else if (window_has(w, at->port) || (w->strategy == WINDOW_DEVICE && w->own_device))
		got = bind_at(d, sock, &to);
	else if (w->strategy == WINDOW_PORT)
		got = bind_mapped(d, sock, at->port, &to);
	else
		return refuse(d, r, at, NULL);
	if (got == 0 && (!net_addr_eq(&at->addr, &to.addr) || (at->port && at->port != to.port)))
		tell_rewrite(d, r, "bind", at, &to);
	return got;
}

int shared_bind(struct ldoor *d, struct request *r)
{
	AUTO_CLOSE int sock = request_fd(d, r, (int)r->args[0]);
	struct sockaddr_storage sa = {0};
	struct spot at;
	int family, got;

	if (sock < 0)
		return sock;
	family = option(sock, SOL_SOCKET, SO_DOMAIN);
	if (family != AF_INET && family != AF_INET6)
		return DOOR_CONTINUE; /* Landlock handles TCP; no other kind is left */
	got = request_alive(d, r);
	if (got < 0)
		return got;
	if (!address_of(r, &at))
		return -EAFNOSUPPORT;
	/* A datagram socket may send from any port. */
	if (at.port == 0 && option(sock, SOL_SOCKET, SO_TYPE) != SOCK_STREAM) {
		memcpy(&sa, r->slot[SLOT_EXTRA].data, MIN(r->slot[SLOT_EXTRA].len, sizeof(sa)));
		return bind(sock, (struct sockaddr *)&sa, (socklen_t)r->slot[SLOT_EXTRA].len) < 0
			       ? -errno
			       : DOOR_NOTHING;
	}
	got = bind_here(d, r, sock, &at);
	return got == 0 ? DOOR_NOTHING : got;
}

int perform_listen(struct ldoor *d, struct request *r)
{
	AUTO_CLOSE int sock = request_fd(d, r, (int)r->args[0]);
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);
	struct spot at;
	int family, got = 0;

	if (sock < 0)
		return sock;
	family = option(sock, SOL_SOCKET, SO_DOMAIN);
	if (family == AF_INET || family == AF_INET6) {
		if (getsockname(sock, (struct sockaddr *)&own, &len) < 0 ||
		    !net_addr_from_sock(&at.addr, &at.port, (struct sockaddr *)&own, len))
			return -EINVAL;
		if (at.port == 0)
			got = bind_here(d, r, sock, &at);
		else if (!d->ports || !d->ports->ours[at.port])
			got = refuse(d, r, &at, NULL);
	}
	if (got < 0)
		return got;
	return listen(sock, (int)r->args[1]) < 0 ? -errno : 0;
}

void shared_close(struct ldoor *d)
{
	free(d->ports);
	d->ports = NULL;
}
