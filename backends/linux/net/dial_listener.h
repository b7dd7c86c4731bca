/* dial_listener - the agent's end of connections that are being dialled: listeners in its network.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/net/relay_priv.h"
#include "core/base/hash.h"

/*
 * A listener is shared by all dials to its address and port. A deaf one hears nothing: the kernel
 * drops first packets (SYN) that come for it. Packets of callers that a packet socket has seen are
 * kept here, by the port of the caller.
 */
struct accepted;

/* A first packet of the agent's, and when it and its repetitions came. */
struct syn {
	UT_hash_handle hh;
	uint16_t from_port; /* the key */
	int64_t first, last;
	int64_t again_us; /* when it was sent once more; 0: never */
	struct packet packet;
	uint8_t bytes[PACKET_SYN];
};

/* A connection of a caller at this port. Takes fd, unless it gives it to listener_hold(). The
 * listener may be gone after the call. */
typedef void (*listener_caller)(struct listener *l, int fd, uint16_t from_port);

struct listener {
	struct grave grave;
	struct watch watch;
	struct listener *prev, *next;
	struct relay *relay;
	struct net_addr at;
	uint16_t port;
	bool deaf;
	size_t users;
	listener_caller caller;
	struct accepted *accepted; /* of hosts that have not answered yet */
	struct syn *syns;	   /* in the order of their first arrival */
};

/* Returns the listener at this address; NULL: there is none. */
struct listener *listener_find(const struct relay *r, const struct net_addr *at, uint16_t port);
/* Finds or makes the listener, and counts the user. deaf: of a new one. */
int listener_use(struct listener **ret, struct relay *r, const struct net_addr *at, uint16_t port,
		 bool deaf, listener_caller caller) MUST_USE;
/*
 * One user less. After the last one nothing listens there, and connections that are held are
 * refused. keep: the socket stays bound, as another connection to that host often follows, and need
 * not be asked of the router then.
 */
void listener_leave(struct listener *l, bool keep);
void listener_set_deaf(struct listener *l, bool deaf);
/* Keeps a connection until its host has answered. */
void listener_hold(struct listener *l, int fd, uint16_t from_port);
/* Returns the oldest of those, with its port; -1: there is none. */
int listener_take_held(struct listener *l, uint16_t *ret_port);

struct syn *listener_syn(const struct listener *l, uint16_t from_port); /* NULL: none came */
void listener_keep_syn(struct listener *l, const struct packet *p);
void listener_drop_syn(struct listener *l, uint16_t from_port);
