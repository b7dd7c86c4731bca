/* net_priv - between the processes of the network gate: keeper, relay, router. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/host.h"

/*
 * Theory of operation
 *
 *   keeper   decides; performs the agent's connect() on its own copy of the agent's socket
 *     +- relay     in the host's network: dials what was granted, moves the bytes, resolves names
 *	    +- router	 in a network namespace of its own, the agent's only neighbour
 *
 * The agent's namespace has loopback and one veth. Behind it lies the router's namespace, where
 * every address is local (a default route of type local), nobody listens, and no other interface
 * is. So a connection goes nowhere by itself, whoever is dead, and a socket of the host is never
 * inside. For a granted one the relay connects from the host's namespace to the address that was
 * checked, has the router listen at that very address and port, and the keeper lets the agent's
 * connect() meet that listener; then the relay splices the two. The agent keeps its own socket, so
 * options, time-outs, epoll, dup and half-closed connections are the kernel's business. Where the
 * host is far away the agent's connection begins before the answer is there, and its first packet
 * waits (dial.c).
 *
 * UDP and echo requests come to the router's namespace as packets that its routes drop; packet
 * sockets show them to the relay first (packets.c). A flow that is granted has a socket of its own
 * in the host's network, and what it brings is sent back as packets.
 *
 * A guest of a virtual machine (backends/vm/net) has no namespace here: a TUN device of the
 *router's takes the place of the veth, and what came from the guest as frames is written to it. A
 *connection is asked about when its first packet (SYN) comes, which waits in the process that
 *parses frames.
 *
 * Relay and router are started when the first name is looked up, the first connection wanted or the
 * first packet sent: a run without them pays nothing.
 *
 * Death: the relay ends when the keeper's socket does, the router when the relay's does. When the
 * relay dies all connections end, and what waits for it is refused; the next one starts it anew.
 */

/* The agent's address and the router's, of the range that is set aside for benchmarks and that
 * stand-ins come from as well (book.h); and in IPv6 of a private range. */
#define NET_INSIDE    0xc6120002u /* 198.18.0.2 */
#define NET_ROUTER    0xc6120001u /* 198.18.0.1 */
#define NET_INSIDE_V6 "fdc0:7d0::2"
#define NET_ROUTER_V6 "fdc0:7d0::1"

/* Made inside, before the agent is confined: of the stub resolver, UDP and TCP at 127.0.0.53 and
 * 127.0.0.1; and one that sees the first packet that is to leave. */
#define DNS_SOCKETS 4
enum {
	EARLY_SOCKET = DNS_SOCKETS,
	INSIDE_SOCKETS
};

#define NET_ADDRS_MAX 8		   /* that a name leads to; more are not tried */
#define NET_IS_FLOW   (1ull << 62) /* in the id of what is no connection */
#define NET_IS_COME   (1ull << 61) /* in the id of one that came from the host */

enum net_what {
	/* relay to keeper */
	NET_READY = 1, /* code: the veth is there, or why not */
	NET_LOOKUP,    /* id, name, type: may this be asked? */
	NET_BOOK,      /* name leads to addr[0] */
	NET_RESOLVED,  /* id, code, addr[n] */
	NET_DIALLED,   /* id, code: a listener waits for the agent's connect(); addr[0]: dialled;
			* type: 1 where the host has not answered yet */
	NET_BYTES,     /* id, sent, received: as long as it is open */
	NET_CLOSED,    /* id, sent, received */
	NET_FLOW,      /* id, type: IPPROTO_*; at, port: where to; addr[0], from_port: from where */
	NET_PUBLISHED, /* port, from_port, code: what became of NET_PUBLISH */
	NET_CAME,      /* id, port, from_port, addr[0]: a connection to a port that is published */
	/* keeper to relay */
	NET_ANSWER,  /* id, verdict, addr[0] for NAME_STAND_IN */
	NET_RESOLVE, /* id, name */
	NET_DIAL,    /* id, addr[n] to dial by turns, at: where the agent connects to, port; code:
		      * 1 where its first packet is held until NET_DIALLED, so there is time */
	NET_BEGUN,   /* id, from_port: the agent's connect() after NET_DIALLED with type 1 */
	NET_CANCEL,  /* id: nobody waits for it any more */
	NET_END,     /* id: close this connection */
	NET_GRANT,   /* id, addr[0], port: where the packets of this flow go */
	NET_REFUSE,  /* id, code: they go nowhere */
	NET_PUBLISH, /* port, from_port: show port of the sandbox at from_port of the host */
};

enum net_verdict {
	NAME_FORWARD,
	NAME_STAND_IN, /* an address that stands for it */
	NAME_EMPTY,    /* it exists, but has no record of that type */
	NAME_REFUSED,  /* it does not exist, with the reason */
};

struct net_note {
	uint32_t what;
	int32_t code;
	uint64_t id;
	uint32_t verdict; /* enum net_verdict */
	uint32_t secrets; /* NET_DIAL: bits of those that may be put into what is sent (tls.h) */
	uint16_t type, port, n, from_port;
	struct net_addr at, addr[NET_ADDRS_MAX];
	uint64_t sent, received; /* bytes, by the agent */
	char name[NET_NAME_MAX + 3];
};

/* ---- router.c -------------------------------------------------------------------------------- */

/* One end of the veth, as a sender at the other end names it. */
struct router_end {
	int index; /* of the sender's end */
	uint8_t mac[6];
};

/*
 * What the router has made: sock is for router_listen(). Packet sockets, -1: cannot be had:
 *   PACKETS_V4, _V6   see the agent's datagrams, echo requests and the first packets of its
 *		       connections; what is sent there goes to `inside`
 *   PACKETS_AGAIN     in the agent's namespace, sees nothing: what is sent there comes to the
 *		       router, `outside`, as if the agent had sent it
 */
enum {
	PACKETS_V4,
	PACKETS_V6,
	PACKETS_AGAIN,
	PACKETS
};
struct router {
	int sock, packets[PACKETS];
	struct router_end inside, outside;
};

struct relay_spec;
/* In the relay: fork it. -errno. */
int router_start(const struct relay_spec *spec, struct router *ret) MUST_USE;
/* A listening socket at that address, non-blocking; it hears nothing while `deaf`. -errno. */
int router_listen(int sock, const struct net_addr *at, uint16_t port, bool deaf) MUST_USE;

/* From now on the socket hears nothing, or everything again. 0 or -errno. */
int router_deafen(int sock, bool deaf);

/* A socket of TCP in the agent's namespace, not connected. -errno. */
int router_socket(int sock, bool v6) MUST_USE;

/* Can it be done here? For a process that may make network namespaces and has no use for its own.
 */
int router_try(void);
/* In the agent's process before it is confined: its sockets (above), its address, and a route for
 * what is to leave, into nothing as long as there is no router. Those that cannot be had are -1. No
 * heap. */
void router_prepare_inside(int inside[INSIDE_SOCKETS]);
/*
 * For a guest of a virtual machine: makes user and network namespaces, this process in them, with
 * a TUN device in the place of the veth: its packets are the agent's, whose address is NET_INSIDE;
 * the stub resolver is at NET_ROUTER. The relay finds all of it there (relay_spec.guest). Returns
 * the device, non-blocking, or -errno. Those of inside that cannot be had are -1.
 */
int router_prepare_guest(int inside[INSIDE_SOCKETS]) MUST_USE;
/* Once in the agent's network namespace, with a /proc that can be written: who is in this group may
 * send echo requests. Best effort. */
void router_allow_ping(void);

/* ---- net_filter.c ---------------------------------------------------------------------------- */

/* From here on the process makes the calls of its loop alone. 0 or negative errno; then it must not
 * go on. */
int net_filter_relay(void) MUST_USE;
int net_filter_router(void) MUST_USE;
/* This one looks names up with the C library: it starts nothing and reaches no other process. */
int net_filter_proxy(void) MUST_USE;
/* This one opens no socket and no file. */
int net_filter_tls(void) MUST_USE;

/* ---- relay.c --------------------------------------------------------------------------------- */

struct relay_spec {
	int sock; /* to the keeper */
	int user_ns, net_ns;
	bool guest; /* these are the router's own: router_prepare_guest() made them */
	int tls;    /* to the TLS process; -1: there is none */
	int inside[INSIDE_SOCKETS];
};
NORETURN void relay_run(const struct relay_spec *spec);
