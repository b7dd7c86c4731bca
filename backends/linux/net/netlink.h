/* netlink - interfaces, addresses and routes of a network namespace; no heap. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * Every function sends one request on a socket of netlink_open() and waits for its answer. It
 * returns 0 or negative errno. The request is for the namespace that the socket was made in.
 */
int netlink_open(void);
int netlink_index(int nl, const char *name); /* of an interface; -ENODEV */
int netlink_up(int nl, int index);
/* Waits until the interface has IFF_RUNNING. If one veth end is up before the other, it silently
 * drops packets until a kernel worker has set the flag. Returns -ETIMEDOUT after 10 s. */
int netlink_wait_running(int nl, int index);
/* Makes a veth pair: `name` here, `peer` in the namespace of peer_ns. */
int netlink_veth(int nl, const char *name, const char *peer, int peer_ns, unsigned mtu);
int netlink_address(int nl, int index, const struct net_addr *a, unsigned bits);

struct netlink_route {
	int index;			     /* of the interface */
	const struct net_addr *to;	     /* one host; NULL: everything */
	const struct net_addr *via, *source; /* NULL: none */
	bool v6, local;			     /* local: packets to `to` are for this host */
};
int netlink_route(int nl, const struct netlink_route *route); /* replaces a route to `to` */
int netlink_unroute(int nl, const struct netlink_route *route);
/* Drops packets of this protocol, or refuses them with ENETUNREACH, unless they are for an address
 * of the namespace. from: the incoming interface; NULL: any, and packets that are sent here. */
int netlink_drop(int nl, uint8_t protocol, bool v6, bool refuse, const char *from);
