/* proxy - connections to hosts where the agent has no network of its own: it asks a proxy of ours.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/keeper.h"

/*
 * Theory of operation
 *
 *   keeper   decides (proxy_want.c); has the listening socket until the first connection comes
 *     +- proxy    speaks HTTP and SOCKS with the agent, resolves names, dials, moves bytes
 *
 * The agent connects to 127.0.0.1 at a port of ours, which its environment names together with a
 * secret (HTTP_PROXY and the like), and says where to. The proxy asks the keeper, which judges the
 * name, then the addresses that the name leads to, and those are dialled. What is asked about waits
 * in the keeper; all others go on.
 *
 * Who asks: the keeper itself has performed the agent's connect() and knows its port (Linux), or
 * looks who has that port (macOS). So a request has a process and a step, and one that is not the
 * agent's is refused whatever it knows.
 *
 * Death: the proxy ends when the keeper's socket does. When the proxy dies its connections end; the
 * next one starts it anew. Nothing but the proxy dials: then no one can connect anywhere.
 */
struct proxy_door;

/* What each system does in its own way. */
struct proxy_host {
	void *data; /* handed to each */
	/* In the proxy's process, which has no other descriptors any more: from here on it can
	 * write nothing, start nothing and read no more than looking names up takes. 0 or negative
	 * errno: then it ends. */
	int (*confine)(void *data);
	/* The process inside that has connected from this port of 127.0.0.1 to that one; 0: there
	 * is none. NULL: proxy_door_expect() says so. */
	int (*caller)(void *data, uint16_t from, uint16_t to);
	/* The door is freed, and so may this be. NULL: nothing to do. */
	void (*done)(void *data);
};

/* Listens. host is borrowed for as long as it lives. */
int proxy_door_new(struct proxy_door **ret, struct keeper *k, const struct proxy_host *host,
		   struct err *err) MUST_USE;
struct door *proxy_door_of(struct proxy_door *p); /* for keeper_add_door(), which closes it then */
void proxy_door_free(struct proxy_door *p);	  /* where it was not added; NULL is a no-op */
/* NAME=VALUE for the agent's environment, PROXY_SETTINGS of them; borrowed. */
#define PROXY_SETTINGS 9
const char *const *proxy_door_env(const struct proxy_door *p);
uint16_t proxy_door_port(const struct proxy_door *p); /* at 127.0.0.1 */
/* This process has connected to it from this port of 127.0.0.1. Where there is no caller(). */
void proxy_door_expect(struct proxy_door *p, uint16_t from, int pid);
