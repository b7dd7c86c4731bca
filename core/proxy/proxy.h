/* proxy - an HTTP and SOCKS proxy for agents that have no network of their own. */
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
 * secret (HTTP_PROXY and the like), and names the target. The proxy asks the keeper, which judges
 * the name, then the addresses of the name; the proxy dials the allowed ones. A request with a
 * question for the user waits in the keeper; all others go on.
 *
 * Caller: the keeper itself has performed the agent's connect() and knows its port (Linux), or
 * finds the process that has that port (macOS). So a request has a process and a step, and one of
 * another process is refused even with the secret.
 *
 * Death: the proxy ends when the keeper's socket does. When the proxy dies its connections end; the
 * next one starts it anew. Only the proxy dials: without it no process inside can connect.
 */
struct proxy_door;
struct proxy_spec;

/* The parts that differ between systems. */
struct proxy_host {
	void *data; /* argument of each */
	/* Starts a process that calls proxy_run() with the same descriptors and secret. Returns 0
	 * or negative errno. NULL: the keeper forks it, and `confine` is called. */
	int (*start)(void *data, const struct proxy_spec *spec, pid_t *ret);
	/* Called in the process of the proxy, after it has closed all other descriptors. Afterwards
	 * the process can write no files, start no programs and read only the files that resolving
	 * names needs. Returns 0 or negative errno: then it ends. */
	int (*confine)(void *data);
	/* Returns the process inside that has connected from this port of 127.0.0.1 to that one; 0:
	 * none. NULL: proxy_door_expect() reports it. */
	int (*caller)(void *data, uint16_t from, uint16_t to);
	/* Called when the door is freed, and data may be freed too. May be NULL. */
	void (*done)(void *data);
};

/* Makes the door and its listening socket. The caller owns `host`, which must outlive the door. */
int proxy_door_new(struct proxy_door **ret, struct keeper *k, const struct proxy_host *host,
		   struct err *err) MUST_USE;
struct door *proxy_door_of(struct proxy_door *p); /* for keeper_add_door(), which closes it then */
void proxy_door_free(struct proxy_door *p);	  /* if it was not added; NULL is a no-op */
/* NAME=VALUE for the agent's environment, PROXY_SETTINGS of them; owned by the door. */
#define PROXY_SETTINGS 9
const char *const *proxy_door_env(const struct proxy_door *p);
uint16_t proxy_door_port(const struct proxy_door *p); /* at 127.0.0.1 */
/* Notes that this process has connected to the proxy from this port of 127.0.0.1. For hosts without
 * caller(). */
void proxy_door_expect(struct proxy_door *p, uint16_t from, int pid);

/* ---- in the proxy's process, where it is not forked ---- */
struct proxy_spec {
	const struct proxy_host *host; /* its confine() is called */
	int sock;		       /* to the keeper */
	int listener;		       /* for the agent's connections */
	const char *secret;
};
NORETURN void proxy_run(const struct proxy_spec *spec);
