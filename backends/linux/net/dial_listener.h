/* dial_listener - listeners in the agent's network for connections that are being dialled. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/net/relay_priv.h"
#include "core/base/hash.h"

/*
 * All dials to the same address and port share a listener. A deaf one drops first packets (SYN) in
 * the kernel. First packets that a packet socket has seen are kept here, by the caller's port.
 */
struct accepted;

/* A first packet of the agent's, and when it and its repetitions arrived. */
struct syn {
	UT_hash_handle hh;
	uint16_t from_port; /* the key */
	int64_t first, last;
	int64_t again_us; /* when it was repeated; 0: never */
	struct packet packet;
	uint8_t bytes[PACKET_SYN];
};

/* Called for a connection from this port of the agent. Takes fd, or passes it to listener_hold().
 * The listener may be freed by this call. */
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
	struct accepted *accepted; /* connections whose hosts have not answered yet */
	struct syn *syns;	   /* in the order of their first arrival */
};

/* Returns the listener at this address, or NULL. */
struct listener *listener_find(const struct relay *r, const struct net_addr *at, uint16_t port);
/* Finds or makes the listener, and adds a user. deaf: for a new one. */
int listener_use(struct listener **ret, struct relay *r, const struct net_addr *at, uint16_t port,
		 bool deaf, listener_caller caller) MUST_USE;
/*
 * Removes a user. After the last one the listener closes, and connections that are held are
 * refused. keep: the socket stays bound, because another connection to that host often follows, and
 * then the router need not be asked.
 */
void listener_leave(struct listener *l, bool keep);
void listener_set_deaf(struct listener *l, bool deaf);
/* Keeps a connection until its host has answered. */
void listener_hold(struct listener *l, int fd, uint16_t from_port);
/* Takes the oldest held connection. Returns its descriptor and port, or -1. */
int listener_take_held(struct listener *l, uint16_t *ret_port);

struct syn *listener_syn(const struct listener *l, uint16_t from_port); /* NULL: none arrived */
void listener_keep_syn(struct listener *l, const struct packet *p);
void listener_drop_syn(struct listener *l, uint16_t from_port);
