/* gateway - the keeper's side of the network gate: the relay, started when it is first needed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/net/net_priv.h"
#include "core/keeper/keeper.h"
#include "core/net/book.h"

/*
 * Life:    gateway_new() -> gateway_free(), which ends the relay and all connections.
 * Threads: the keeper's one. Nothing here blocks.
 *
 * Names that the agent looks up are decided on here (core/keeper/flows.h); what connects is the
 * door's business (backends/linux/door/calls_flow.c), which hears of the rest through `on`.
 */
struct gateway;

struct gateway_listener {
	/* The relay serves from now on (0), does not start, or is gone (negative errno). */
	void (*ready)(void *data, int code);
	/* NET_RESOLVED, NET_DIALLED, NET_FLOW, NET_BYTES, NET_CLOSED, NET_PUBLISHED or
	 * NET_CAME. */
	void (*heard)(void *data, const struct net_note *note);
};

/* Takes the descriptors of inside, duplicates the others. */
struct gateway *gateway_new(struct keeper *k, int user_ns, int net_ns, int inside[INSIDE_SOCKETS]);
void gateway_free(struct gateway *g); /* NULL is a no-op */
void gateway_listen(struct gateway *g, const struct gateway_listener *on, void *data);

/* The namespaces are those of router_prepare_guest(). */
void gateway_serve_guest(struct gateway *g);
/* Every name may be looked up: nothing is asked. */
void gateway_open_names(struct gateway *g);

struct tls;
struct secrets;
/* From now on: connections to the hosts of these secrets go through that process. Borrowed. */
void gateway_use_secrets(struct gateway *g, const struct secrets *secrets, const struct tls *tls);
/* The bits of those whose host a connection to this target and address is, or NULL, may be to. */
uint32_t gateway_secrets(const struct gateway *g, const struct net_target *t,
			 const struct net_addr *at);

/* 1: it serves; 0: it starts, ready() follows; negative errno: it cannot. */
int gateway_start(struct gateway *g);
/* False: it is gone, or does not keep up; NET_END and NET_CANCEL wait then until it does. */
bool gateway_send(struct gateway *g, const struct net_note *note) MUST_USE;
/* Hear what it has said so far: names that the agent has been told are in the book by then. */
void gateway_drain(struct gateway *g);
struct net_book *gateway_book(struct gateway *g); /* borrowed */
