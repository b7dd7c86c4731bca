/* proxy_door_priv - types and functions shared by the keeper's side of the proxy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/proxy/proxy_priv.h"
#include "core/net/book.h"

#define WANT_SLOTS 512

enum stage {
	STAGE_NAME,    /* judged by name, or asked */
	STAGE_RESOLVE, /* resolving the name */
	STAGE_ADDR,    /* judged by address, or asked */
	STAGE_DIAL,
	STAGE_OPEN, /* until it is closed: names in its first bytes are judged by it */
};

/* A request, until its connection is closed. */
struct want {
	struct want *next; /* of the same slot */
	uint64_t id;
	int pid;
	enum stage stage;
	struct net_target target;
	struct net_addr addr[PROXY_ADDRS];
	size_t n;
	bool by_name; /* else by the client's address */
	bool granted;
};

struct proxy_door {
	struct door door;
	struct keeper *k;
	const struct proxy_host *host;
	int listener, sock; /* sock -1: no proxy is running */
	pid_t pid;
	bool watched;
	uint16_t port;
	int64_t died_us;
	char secret[PROXY_SECRET];
	char *env[PROXY_SETTINGS + 1];
	int *callers; /* by the port from which a process has connected; NULL: host->caller() */
	struct net_book *book;
	struct buf said; /* flow_say() */
	struct buf out;	 /* notes not sent yet */
	struct want *slots[WANT_SLOTS];
	size_t n_wants; /* not yet open */
};

/* ---- proxy_door.c ---------------------------------------------------------------------------- */

void proxy_door_tell(struct proxy_door *p, const struct proxy_note *note);
/* Returns the process inside that has connected from this port; 0: none. */
int proxy_door_caller(const struct proxy_door *p, uint16_t from);

/* ---- proxy_want.c: requests, until each is closed or refused -----------------------------------
 */

struct want *want_find(struct proxy_door *p, uint64_t id); /* NULL: none */
void want_begin(struct proxy_door *p, const struct proxy_note *note);
void want_resolved(struct proxy_door *p, struct want *w, const struct proxy_note *note);
void want_opened(struct proxy_door *p, struct want *w, const struct proxy_note *note);
/* Judges a name in the first bytes of an open connection. w: NULL if it is closed. */
void want_named(struct proxy_door *p, const struct want *w, const struct proxy_note *note);
/* Ends a request whose client has gone, or that cannot be served. */
void want_gone(struct proxy_door *p, struct want *w);
void want_answered(struct proxy_door *p, uint64_t id, enum door_verdict verdict);
void wants_drop(struct proxy_door *p); /* all are refused */
