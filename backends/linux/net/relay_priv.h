/* relay_priv - the relay's state, and the functions that its files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <netinet/in.h>
#include <sys/epoll.h>

#include "backends/linux/net/net_priv.h"
#include "core/net/dns.h"
#include "core/net/packet.h"

struct relay;

/* ---- relay.c: the loop ----------------------------------------------------------------------- */

/*
 * A polled descriptor, part of a larger object. If an object is closed in a turn of the loop, an
 * event for it may still be pending in that turn: relay_bury() frees it at the turn's end.
 */
struct watch {
	int fd; /* -1: none */
	void (*fn)(struct watch *w, uint32_t events);
};

int relay_watch(struct relay *r, struct watch *w, uint32_t events) MUST_USE;
void relay_rewatch(struct relay *r, struct watch *w, uint32_t events);
void relay_close(struct relay *r, struct watch *w); /* stops polling, closes the descriptor */

/* Accepts a connection of a listener, or returns -errno. If the process has no free descriptor,
 * closes the connection, which would otherwise wake the loop for ever. */
int relay_accept(struct relay *r, const struct watch *w, struct sockaddr_storage *peer);
void relay_refuse(int fd); /* closes a connection with a reset */

/* ---- dial_upstream.c: for a connected, non-blocking socket ----------------------------------- */

struct upstream;
int dial_ask_upstream(int fd, const struct upstream *u, const struct net_target *t) MUST_USE;
/* Reads the upstream proxy's answer. Returns 0 if it is not complete, 1 if the proxy has connected
 * to the host, a status of the proxy, or negative errno. */
int dial_hear_upstream(int fd) MUST_USE;

struct relay *relay_self(void); /* the process's only relay */

struct grave {
	struct grave *next;
};
void relay_bury(struct relay *r, struct grave *first_member);
void relay_tell(struct relay *r, const struct net_note *note);
/* Requests a tick at this moment (monotonic, us). */
void relay_wake_at(struct relay *r, int64_t us);

struct cached;
struct dial;
struct asked;
struct dns_query;
struct flow;
struct listener;
struct named;
struct pair;

struct relay {
	int sock, epoll, router;
	int spare; /* freed to refuse a connection; -1: none */
	struct relay_spec spec;
	int64_t now, wake;
	struct grave *graves;
	/* dial.c, dial_listener.c */
	struct dial *dials;
	struct listener *listeners, *idle; /* idle: without a dial */
	size_t n_idle;
	/* splice.c */
	struct pair *pairs, *ready; /* ready: for the next turn */
	int pipes[64][2];	    /* empty ones, for reuse */
	size_t n_pipes;
	int64_t told_at;
	/* resolve.c, stub.c */
	struct dns_query *queries;
	size_t n_queries;
	uint64_t last_query;
	struct net_addr servers[3];
	size_t n_servers;
	int64_t servers_s; /* when the host's file was last changed */
	struct cached *cached, *cache_list;
	struct asked *asked;
	size_t n_asked, n_clients;
	uint64_t last_asked;
	struct watch stub[DNS_SOCKETS];
	/* packets.c */
	struct watch packets[2]; /* IPv4, IPv6 */
	struct router_end inside, outside;
	int again; /* PACKETS_AGAIN */
	struct flow *flows, *flow_list;
	size_t n_asked_flows, waiting_bytes; /* bytes: of their packets */
	uint64_t last_flow;
	/* publish.c */
	size_t n_published;
	uint64_t last_come;
};

/* ---- dial.c: granted connections, until both ends are connected ------------------------------ */

void dial_begin(struct relay *r, const struct net_note *note);
/* NET_BEGUN: the agent's connection has this port. */
void dial_begun(struct relay *r, const struct net_note *note);
/* Handles the first packet of a connection (SYN) of the agent's, or a reset. */
void dial_packet(struct relay *r, const struct packet *p);
void dial_cancel(struct relay *r, uint64_t id);
void dial_tick(struct relay *r);

/* ---- splice.c: connections ------------------------------------------------------------------- */

/* Takes both descriptors, and named, which may be NULL. */
void pair_begin(struct relay *r, uint64_t id, int inner, int outer, struct named *named);
void pair_passes(struct relay *r, uint64_t id); /* NET_PASS */
void pair_end(struct relay *r, uint64_t id);
bool pair_run(struct relay *r); /* moves bytes of ready pairs; true: more pairs are ready */
void pair_tick(struct relay *r);

/* ---- named.c: the host that the agent names in its first bytes ------------------------------- */

/* Returns the check for this NET_DIAL, to be freed with free(), or NULL if it needs none. */
struct named *named_new(struct relay *r, const struct net_note *dial);
/* Returns how many bytes of the agent's socket may be passed on, 0 if none can now, or NAMED_OVER
 * if the check is over. */
#define NAMED_OVER SIZE_MAX
size_t named_look(struct named *n, int from);
void named_took(struct named *n, size_t bytes); /* they have been passed on */
/* Goes on after the keeper has allowed the name. Returns whether the check is over. */
bool named_passed(struct named *n);

/* ---- resolve.c: names, through the host's nameservers ---------------------------------------- */

/* Gets the nameserver's answer unchanged, with the id of the query; NULL: time-out. */
typedef void (*resolve_done)(void *data, uint8_t *answer, size_t len);
/* Asks the nameservers. query: a whole message, copied. Returns the id of the query, or 0 if there
 * are too many: then done is not called. */
uint64_t resolve_begin(struct relay *r, const uint8_t *query, size_t len,
		       const struct dns_question *q, resolve_done done, void *data);
void resolve_tick(struct relay *r);
/* NET_RESOLVE: looks up the addresses of a name. */
void resolve_for_keeper(struct relay *r, const struct net_note *note);
/* Sends an answer's addresses to the keeper, for its book of names. */
void resolve_book(struct relay *r, const uint8_t *answer, size_t len, const struct dns_question *q);

/* ---- cache.c: answers of nameservers --------------------------------------------------------- */

#define CACHE_BYTES 4096
/* Copies the cached answer to this query, with the query's id. Returns its length; 0: none. */
size_t cache_find(struct relay *r, const uint8_t *query, size_t len, uint8_t out[CACHE_BYTES]);
void cache_add(struct relay *r, const uint8_t *query, size_t query_len, const uint8_t *answer,
	       size_t len);

/* ---- stub.c: the resolver inside ------------------------------------------------------------- */

void stub_begin(struct relay *r);
void stub_tick(struct relay *r);
void stub_answer(struct relay *r, const struct net_note *note); /* NET_ANSWER */

/* ---- packets.c: UDP and echo requests ----------------------------------------------------------
 */

void packets_begin(struct relay *r);
void packets_tick(struct relay *r);
void packets_granted(struct relay *r, const struct net_note *note); /* NET_GRANT */
void packets_refused(struct relay *r, const struct net_note *note); /* NET_REFUSE */
void packets_close(struct relay *r, uint64_t id);		    /* a granted flow */
/* Sends the packet to the router as if the agent had sent it again. Returns false on failure. */
bool packets_again(const struct relay *r, const struct packet *p);
/* Answers the agent with a packet that means this error (a positive errno). Returns false if there
 * is no such packet. */
bool packets_refuse(const struct relay *r, const struct packet *p, int code);

/* ---- publish.c: ports of the sandbox, on the host's loopback --------------------------------- */

void publish_begin(struct relay *r, const struct net_note *note); /* NET_PUBLISH */
