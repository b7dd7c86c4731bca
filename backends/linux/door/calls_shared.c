/* calls_shared - connect, bind and listen where the agent shares the host's network. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "backends/linux/door/door_priv.h"
#include "backends/linux/net/proxy.h"
#include "core/net/host.h"

/*
 * Landlock lets the agent itself neither connect nor bind. So every call is performed here, on a
 * duplicate of its socket and a copy of the address: another thread can neither put another socket
 * nor another address in its place. What may be connected to is the proxy (proxy_door.c), and what
 * a rule about an address of the loopback device names.
 */
static bool address_of(const struct request *r, struct net_addr *ret, uint16_t *ret_port)
{
	const struct copy *c = &r->slot[SLOT_EXTRA];
	struct sockaddr_storage sa = {0};

	memcpy(&sa, c->data, MIN(c->len, sizeof(sa)));
	return net_addr_from_sock(ret, ret_port, (struct sockaddr *)&sa, (socklen_t)c->len);
}

static bool is_allowed_here(struct ldoor *d, const struct net_addr *a, uint16_t port)
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

/* Its port is how the proxy's request is known as this process's. */
static void expect(struct ldoor *d, const struct request *r, int sock)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);
	struct net_addr at;
	uint16_t port;

	if (getsockname(sock, (struct sockaddr *)&own, &len) == 0 &&
	    net_addr_from_sock(&at, &port, (struct sockaddr *)&own, len) && port)
		proxy_door_expect(d->floor.proxy, port, r->caller.pid);
}

int shared_connect(struct ldoor *d, struct request *r, int sock)
{
	const struct net_addr proxy = net_addr_v4(INADDR_LOOPBACK);
	char text[NET_TARGET_TEXT];
	struct net_target to = {0};
	struct net_addr at;
	uint16_t port;
	int got;

	/* Nothing is connected to AF_UNSPEC: what was connected stays so. */
	if (!address_of(r, &at, &port))
		return -EAFNOSUPPORT;
	if (net_addr_eq(&at, &proxy) && port == proxy_door_port(d->floor.proxy)) {
		got = connect_now(d, r, sock, -1);
		if (got == 0 || got == -EINPROGRESS || got == DOOR_LATER)
			expect(d, r, sock);
		return got;
	}
	if (is_allowed_here(d, &at, port))
		return connect_now(d, r, sock, -1);
	net_host_from_addr(&to.host, &at);
	to.port = port;
	net_target_format(&to, text);
	keeper_deny(d->k, &r->caller, text, -EACCES,
		    "hosts are reached through the proxy of HTTPS_PROXY and ALL_PROXY here");
	return -EACCES;
}

static int refuse(struct ldoor *d, struct request *r, const char *what)
{
	if (request_alive(d, r) < 0)
		return DOOR_DEAD;
	keeper_deny(d->k, &r->caller, what, -EACCES,
		    "the host's network is shared here: nobody listens in it");
	return -EACCES;
}

int shared_bind(struct ldoor *d, struct request *r)
{
	char text[NET_TARGET_TEXT];
	struct net_target at = {0};
	struct net_addr addr;

	if (!address_of(r, &addr, &at.port))
		return DOOR_CONTINUE; /* Landlock holds for TCP, and there is nothing else */
	net_host_from_addr(&at.host, &addr);
	net_target_format(&at, text);
	return refuse(d, r, text);
}

int perform_listen(struct ldoor *d, struct request *r)
{
	AUTO_CLOSE int sock = request_fd(d, r, (int)r->args[0]);
	int family = 0, got;

	if (sock < 0)
		return sock;
	got = socket_family(sock, &family);
	if (got < 0)
		return got;
	if (family != AF_INET && family != AF_INET6)
		return listen(sock, (int)r->args[1]) < 0 ? -errno : 0;
	return refuse(d, r, "");
}
