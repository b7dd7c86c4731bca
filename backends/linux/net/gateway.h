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
 * The gateway decides on names that the agent looks up (core/keeper/flows.h). The door decides on
 * connections (backends/linux/door/calls_flow.c) and receives the relay's other notes through `on`.
 */
struct gateway;

struct gateway_listener {
	/* code: 0 once the relay serves; negative errno if it cannot start or has ended. */
	void (*ready)(void *data, int code);
	/* NET_RESOLVED, NET_DIALLED, NET_FLOW, NET_BYTES, NET_CLOSED, NET_PUBLISHED, NET_CAME
	 * or NET_NAMED. */
	void (*heard)(void *data, const struct net_note *note);
};

/* Takes the descriptors of inside, duplicates the others. */
struct gateway *gateway_new(struct keeper *k, int user_ns, int net_ns, int inside[INSIDE_SOCKETS]);
void gateway_free(struct gateway *g); /* NULL is a no-op */
void gateway_listen(struct gateway *g, const struct gateway_listener *on, void *data);

/* Says that router_prepare_guest() made the namespaces. */
void gateway_serve_guest(struct gateway *g);
/* Allows every name to be looked up, without a question. */
void gateway_open_names(struct gateway *g);

struct tls;
struct secrets;
/* Leads later connections to the hosts of these secrets through the TLS process. Both borrowed. */
void gateway_use_secrets(struct gateway *g, const struct secrets *secrets, const struct tls *tls);
/* Returns a bit for each secret whose host this target is, or by the address `at` (or NULL) may
 * be. */
uint32_t gateway_secrets(const struct gateway *g, const struct net_target *t,
			 const struct net_addr *at);

/* Starts the relay. Returns 1 if it serves, 0 if it starts (ready() follows), or negative errno. */
int gateway_start(struct gateway *g);
/* Sends a note to the relay, or queues it while the relay's socket is full. Returns false if the
 * relay is gone or the queue is full; NET_END, NET_PASS, NET_CANCEL and NET_BEGUN are always
 * queued. */
bool gateway_send(struct gateway *g, const struct net_note *note) MUST_USE;
/* Handles the notes that the relay has sent so far. Afterwards the book has every name that the
 * agent has received an answer for. */
void gateway_drain(struct gateway *g);
struct net_book *gateway_book(struct gateway *g); /* borrowed */
