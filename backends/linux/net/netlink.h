/* netlink - interfaces, addresses and routes of a network namespace; no heap. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * Every function makes one request on a socket of netlink_open() and waits for its end: 0 or
 * negative errno. The namespace is the one that the socket was made in.
 */
int netlink_open(void);
int netlink_index(int nl, const char *name); /* of an interface; -ENODEV */
int netlink_up(int nl, int index);
/* Two joined interfaces: `name` here, `peer` in the namespace of peer_ns. */
int netlink_veth(int nl, const char *name, const char *peer, int peer_ns, unsigned mtu);
int netlink_address(int nl, int index, const struct net_addr *a, unsigned bits);

struct netlink_route {
	int index;			     /* of the interface */
	const struct net_addr *to;	     /* one host; NULL: everything */
	const struct net_addr *via, *source; /* NULL: none */
	bool v6, local;			     /* local: what goes there is for this host */
};
int netlink_route(int nl, const struct netlink_route *route); /* takes another's place */
int netlink_unroute(int nl, const struct netlink_route *route);
/* Drop what comes by this protocol, or refuse it with ENETUNREACH, unless it is for an address of
 * the namespace. from: the interface that it comes through; NULL: any, and what is sent here. */
int netlink_drop(int nl, uint8_t protocol, bool v6, bool refuse, const char *from);
