/* relay_priv - between the files of the relay. */
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
 * A descriptor that is polled; part of a larger object. What is closed in a turn of the loop may
 * still have an event in it: so objects are freed by relay_bury(), at the turn's end.
 */
struct watch {
	int fd; /* -1: none */
	void (*fn)(struct watch *w, uint32_t events);
};

int relay_watch(struct relay *r, struct watch *w, uint32_t events) MUST_USE;
void relay_rewatch(struct relay *r, struct watch *w, uint32_t events);
void relay_close(struct relay *r, struct watch *w); /* stops polling, closes the descriptor */

/* The next connection of a listener, or -errno. Where no descriptor is left the connection is
 * closed: it would wake the loop for ever. */
int relay_accept(struct relay *r, const struct watch *w, struct sockaddr_storage *peer);
void relay_refuse(int fd); /* closes a connection so that its client hears of a reset */

struct relay *relay_self(void); /* there is one in the process */

struct grave {
	struct grave *next;
};
void relay_bury(struct relay *r, struct grave *first_member);
void relay_tell(struct relay *r, const struct net_note *note);
/* A tick at this moment (monotonic, us). */
void relay_wake_at(struct relay *r, int64_t us);

struct cached;
struct dial;
struct asked;
struct dns_query;
struct flow;
struct listener;
struct pair;

struct relay {
	int sock, epoll, router;
	int spare; /* given up to turn a connection away; -1: none */
	struct relay_spec spec;
	int64_t now, wake;
	struct grave *graves;
	bool router_failed;
	/* dial.c */
	struct dial *dials;
	struct listener *listeners;
	/* splice.c */
	struct pair *pairs, *ready; /* ready: goes on in the next turn */
	int pipes[64][2];	    /* empty ones, to be used again */
	size_t n_pipes;
	int64_t told_at;
	/* resolve.c, stub.c */
	struct dns_query *queries;
	size_t n_queries;
	uint64_t last_query;
	struct net_addr servers[3];
	size_t n_servers;
	int64_t servers_s; /* when the host's file was changed last */
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

/* ---- dial.c: what was granted, until both ends are connected --------------------------------- */

void dial_begin(struct relay *r, const struct net_note *note);
/* NET_BEGUN: the agent's connection has this port. */
void dial_begun(struct relay *r, const struct net_note *note);
/* The agent sent the first packet of a connection, or one that says that there is none. */
void dial_packet(struct relay *r, const struct packet *p);
void dial_cancel(struct relay *r, uint64_t id);
void dial_tick(struct relay *r);

/* ---- splice.c: connections ------------------------------------------------------------------- */

/* Takes both. */
void pair_begin(struct relay *r, uint64_t id, int inner, int outer);
void pair_end(struct relay *r, uint64_t id);
bool pair_run(struct relay *r); /* what is ready; true: there is more */
void pair_tick(struct relay *r);

/* ---- resolve.c: names, through the host's nameservers ---------------------------------------- */

/* The answer as it came, with the id of the query; NULL: none came in time. */
typedef void (*resolve_done)(void *data, uint8_t *answer, size_t len);
/* Asks the nameservers. query: a whole message, copied. Returns the id of the query, or 0 if there
 * are too many: then done is not called. */
uint64_t resolve_begin(struct relay *r, const uint8_t *query, size_t len,
		       const struct dns_question *q, resolve_done done, void *data);
void resolve_tick(struct relay *r);
/* NET_RESOLVE: the addresses of a name. */
void resolve_for_keeper(struct relay *r, const struct net_note *note);
/* What an answer says of its name goes into the keeper's book. */
void resolve_book(struct relay *r, const uint8_t *answer, size_t len, const struct dns_question *q);

/* ---- cache.c: answers of nameservers --------------------------------------------------------- */

#define CACHE_BYTES 4096
/* The answer to this query, with its id; its length, 0: there is none. */
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
void packets_close(struct relay *r, uint64_t id);		    /* one that was granted */
/* As if the agent had sent it once more. False: that cannot be done. */
bool packets_again(const struct relay *r, const struct packet *p);
/* Tells the agent that nothing comes of it, by this error (positive). False: no packet says that.
 */
bool packets_refuse(const struct relay *r, const struct packet *p, int code);

/* ---- publish.c: ports of the sandbox, on the host's loopback --------------------------------- */

void publish_begin(struct relay *r, const struct net_note *note); /* NET_PUBLISH */
