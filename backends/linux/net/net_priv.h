/* net_priv - messages and functions of the network gate's processes: keeper, relay, router. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/host.h"

/*
 * Theory of operation
 *
 *   keeper   decides; performs the agent's connect() on its own copy of the agent's socket
 *     +- relay     in the host's network: dials granted targets, moves the bytes, resolves names
 *         +- router    in a network namespace of its own, the agent's only neighbour
 *
 * The agent's namespace has loopback and one veth. Behind it lies the router's namespace, where
 * every address is local (a default route of type local), no socket listens, and there is no other
 * interface. So a connection leads nowhere by itself, even if a process has died, and a socket of
 * the host is never inside. For a granted connection the relay connects from the host's namespace
 * to the checked address and has the router listen at the same address and port. The keeper lets
 * the agent's connect() reach that listener; then the relay splices the two. The agent keeps its
 * own socket, so the kernel handles options, time-outs, epoll, dup and half-closed connections. If
 * the host is far away, the agent's connection begins before the host's answer, and its first
 * packet waits (dial.c).
 *
 * The relay looks at the agent's first bytes while it passes them on (named.c). If they name
 * another host than the connection's, in TLS or HTTP, the keeper judges that name, too.
 *
 * UDP and echo requests come to the router's namespace as packets that its routes drop; packet
 * sockets show them to the relay first (packets.c). A granted flow has a socket of its own in the
 * host's network, and the relay sends its answers back as packets.
 *
 * A guest of a virtual machine (backends/vm/net) has no namespace here: a TUN device of the
 * router's takes the place of the veth, and the packets of the guest's frames are written to it.
 * The question about a connection is put when its first packet (SYN) comes, which waits in the
 * process that parses frames.
 *
 * The first name look-up, connection or packet starts relay and router: a run without them pays
 * nothing.
 *
 * Death: the relay ends when the keeper's socket does, the router when the relay's does. When the
 * relay dies all connections end, and waiting requests are refused. The next request starts it
 * anew.
 */

/* The addresses of the agent and the router: in IPv4 of the range for benchmarks (RFC 2544), which
 * stand-in addresses come from as well (book.h); in IPv6 of a private range. */
#define NET_INSIDE    0xc6120002u /* 198.18.0.2 */
#define NET_ROUTER    0xc6120001u /* 198.18.0.1 */
#define NET_INSIDE_V6 "fdc0:7d0::2"
#define NET_ROUTER_V6 "fdc0:7d0::1"

/* Sockets that are made inside before the agent is confined: the stub resolver's, UDP and TCP at
 * 127.0.0.53 and 127.0.0.1; and one that receives the first outgoing packet. */
#define DNS_SOCKETS 4
enum {
	EARLY_SOCKET = DNS_SOCKETS,
	INSIDE_SOCKETS
};

#define NET_ADDRS_MAX 8		   /* addresses of a name; more are not tried */
#define NET_IS_FLOW   (1ull << 62) /* in ids of flows without a connection */
#define NET_IS_COME   (1ull << 61) /* in ids of connections from the host */

enum net_what {
	/* relay to keeper */
	NET_READY = 1, /* code: 0 if the veth is ready, else negative errno */
	NET_LOOKUP,    /* id, name, type: asks whether this name may be looked up */
	NET_BOOK,      /* name leads to addr[0] */
	NET_RESOLVED,  /* id, code, addr[n] */
	/* id, code: a listener waits for the agent's connect(); addr[0]: the address that was
	 * dialled; type: 1 if the host has not answered yet */
	NET_DIALLED,
	NET_BYTES,     /* id, sent, received: while the connection is open */
	NET_CLOSED,    /* id, sent, received */
	NET_FLOW,      /* id, type: IPPROTO_*; at, port: target; addr[0], from_port: source */
	NET_PUBLISHED, /* port, from_port, code: the result of NET_PUBLISH */
	NET_CAME,      /* id, port, from_port, addr[0]: a connection to a published port */
	NET_SAID,      /* name: a message for the user */
	NET_NAMED,     /* id, name: the agent names this host in its first bytes, which wait */
	/* keeper to relay */
	NET_ANSWER,  /* id, verdict, addr[0] for NAME_STAND_IN */
	NET_RESOLVE, /* id, name */
	/* id, addr[n] to dial by turns; at, port: the target of the agent's connect(); code: 1 if
	 * the agent's first packet is held until NET_DIALLED, so that the dial need not be fast;
	 * name: the host; with n 0 it is dialled by upstream_for(); type: 1 if NET_NAMED is to
	 * report other names */
	NET_DIAL,
	NET_BEGUN,   /* id, from_port: the agent's connect() after NET_DIALLED with type 1 */
	NET_CANCEL,  /* id: the look-up, dial or flow is cancelled */
	NET_END,     /* id: close this connection */
	NET_PASS,    /* id: the answer to NET_NAMED, if it is not NET_END */
	NET_GRANT,   /* id, addr[0], port: send the packets of this flow there */
	NET_REFUSE,  /* id, code: refuse the packets of this flow */
	NET_PUBLISH, /* port, from_port: show port of the sandbox at from_port of the host */
};

enum net_verdict {
	NAME_FORWARD,
	NAME_STAND_IN, /* a stand-in address */
	NAME_EMPTY,    /* the name exists, but has no record of that type */
	NAME_REFUSED,  /* the name does not exist, with the reason */
};

struct net_note {
	uint32_t what;
	int32_t code;
	uint64_t id;
	uint32_t verdict; /* enum net_verdict */
	uint32_t secrets; /* NET_DIAL: a bit for each secret that requests may get (tls.h) */
	uint16_t type, port, n, from_port;
	struct net_addr at, addr[NET_ADDRS_MAX];
	uint64_t sent, received;     /* bytes, by the agent */
	char name[NET_NAME_MAX + 3]; /* NET_SAID is cut to fit */
};

/* ---- router.c -------------------------------------------------------------------------------- */

/* One end of the veth, as the destination of packets from the other end. */
struct router_end {
	int index; /* of the sender's end */
	uint8_t mac[6];
};

/*
 * The router's sockets. sock is for router_listen(). Packet sockets, -1 if the kernel has none:
 *   PACKETS_V4, _V6   receive the agent's datagrams, echo requests and the first packets of its
 *                     connections; send to the agent (`inside`)
 *   PACKETS_AGAIN     in the agent's namespace, receives nothing; sends to the router
 *                     (`outside`) as if the agent had sent it
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
/* Forks the router, in the relay. Returns 0 or -errno. */
int router_start(const struct relay_spec *spec, struct router *ret) MUST_USE;
/* Returns a listening socket at that address, non-blocking, or -errno. deaf: as router_deafen(). */
int router_listen(int sock, const struct net_addr *at, uint16_t port, bool deaf) MUST_USE;

/* Makes a bound socket listen, as router_listen(), in the relay too: the socket stays in the
 * router's namespace. Returns 0 or -errno. */
int router_hear(int sock, bool deaf) MUST_USE;
/* Attaches a socket filter that drops every packet, or removes it. Returns 0 or -errno. */
int router_deafen(int sock, bool deaf);

/* Returns a TCP socket in the agent's namespace, not connected, or -errno. */
int router_socket(int sock, bool v6) MUST_USE;

/* ---- router_namespace.c ---------------------------------------------------------------------- */

/* Moves the process from the relay's namespaces to a network namespace of its own, joined to the
 * agent's by a veth. Returns 0 or -errno. */
int router_enter(const struct relay_spec *spec, struct router *made) MUST_USE;
/* Returns 0, or -errno if router_enter() cannot work here. For a process that may make network
 * namespaces and does not need its own. */
int router_try(void);
/* Makes the inside sockets (above), the agent's address, and a route for outgoing packets, which
 * leads nowhere until a router runs. Called in the agent's process before it is confined. Sockets
 * that cannot be made are -1. No heap. */
void router_prepare_inside(int inside[INSIDE_SOCKETS]);
/*
 * For a guest of a virtual machine: moves this process into new user and network namespaces with a
 * TUN device in the place of the veth. Its packets are the agent's, from address NET_INSIDE; the
 * stub resolver is at NET_ROUTER. The relay uses these namespaces later (relay_spec.guest). Returns
 * the device, non-blocking, or -errno. Inside sockets that cannot be made are -1.
 */
int router_prepare_guest(int inside[INSIDE_SOCKETS]) MUST_USE;
/* Allows echo requests to this process's group. Called once in the agent's network namespace, with
 * a writable /proc. Best effort. */
void router_allow_ping(void);

/* ---- net_filter.c ---------------------------------------------------------------------------- */

/* Install a seccomp filter that allows only the system calls of the process's loop. Return 0 or
 * negative errno; after an error the process must end. */
int net_filter_relay(void) MUST_USE;
int net_filter_router(void) MUST_USE;
/* The proxy resolves names with the C library. It can start no program and reach no other process.
 */
int net_filter_proxy(void) MUST_USE;
/* The TLS process can open no socket and no file. */
int net_filter_tls(void) MUST_USE;

/* ---- relay.c --------------------------------------------------------------------------------- */

struct relay_spec {
	int sock; /* to the keeper */
	int user_ns, net_ns;
	bool guest; /* the namespaces are the router's own, of router_prepare_guest() */
	int tls;    /* to the TLS process; -1: there is none */
	int inside[INSIDE_SOCKETS];
};
NORETURN void relay_run(const struct relay_spec *spec);
