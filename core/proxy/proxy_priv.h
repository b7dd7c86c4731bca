/* proxy_priv - messages between the keeper and the proxy, and the state of the proxy process. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/proxy/proxy.h"

#include <uv.h>

#include "core/net/host.h"

#define PROXY_ADDRS  8	/* addresses of a name; further ones are not tried */
#define PROXY_SECRET 33 /* bytes with the NUL */
#define PROXY_USER   "cordon"

enum proxy_what {
	/* To the keeper. */
	PROXY_READY,	/* code: 0, or why it cannot serve */
	PROXY_WANT,	/* id, name, port: from port `from` of the loopback device */
	PROXY_RESOLVED, /* id, code, addr[n] */
	PROXY_OPEN,	/* id, addr[0]: connected */
	PROXY_BYTES,	/* id, sent, received: while it is open */
	PROXY_CLOSED,	/* id, sent, received */
	PROXY_GONE,	/* id: its client has gone */
	PROXY_SAID,	/* name: words for the user */
	PROXY_NAMED,	/* id, name: the client names this host in its first bytes, which wait */
	/* From the keeper. */
	PROXY_RESOLVE, /* id, name */
	PROXY_DIAL,    /* id, addr[n] to try in turn; n 0: by upstream_for() */
	PROXY_REFUSE,  /* id, code, name: words */
	PROXY_END,     /* id: close this connection */
	PROXY_PASS,    /* id: the answer to PROXY_NAMED, if it is not PROXY_END */
};

struct proxy_note {
	uint32_t what;
	int32_t code;
	uint64_t id, sent, received;
	uint16_t port, from, n, pad;
	struct net_addr addr[PROXY_ADDRS];
	char name[NET_TARGET_TEXT];
};

/* ---- in the proxy's process; one loop, one thread -------------------------------------------- */

/*
 * A connection of the agent: its request is read, the keeper is asked, and then the connection has
 * two ends. Freed when no handle and no request of libuv is left (refs).
 */
enum client_state {
	CLIENT_FIRST, /* HTTP or SOCKS, by the first byte */
	CLIENT_HTTP,
	CLIENT_WAYS, /* SOCKS: three messages */
	CLIENT_SECRET,
	CLIENT_REQUEST,
	CLIENT_ASKED, /* the keeper decides */
	CLIENT_LOOKUP,
	CLIENT_DIAL,
	CLIENT_VIA, /* connected to the upstream proxy, which has not answered */
	CLIENT_OPEN,
	CLIENT_REFUSED, /* the answer is being sent */
	CLIENT_CLOSED,
};

/* One end of a connection. */
struct side {
	uv_tcp_t tcp;
	struct client *client;
	unsigned writes; /* unfinished writes */
	uint64_t bytes;	 /* read from it and passed on */
	bool live, eof, shut;
};

struct client {
	struct client *next, *prev; /* all of them */
	struct client *chain;	    /* of the same slot of the table */
	struct proxy *proxy;
	uint64_t id;
	enum client_state state;
	unsigned refs;
	bool socks, tunnel, chunked, told;
	uint64_t body;	     /* !tunnel, !chunked: bytes that the client may still send */
	int64_t deadline_ms; /* 0: none */
	struct net_target target;
	char *head; /* bytes read and not passed on */
	size_t len, cap;
	char *forward; /* !tunnel: the head for the server */
	size_t forward_len;
	struct net_addr addr[PROXY_ADDRS];
	size_t n, at;
	const struct upstream *via; /* NULL: a direct connection */
	struct buf heard;	    /* received part of its answer */
	int failed;		    /* error of the last attempt to dial */
	struct proxy_named *named;  /* NULL: the client's bytes pass unseen */
	uint64_t told_bytes;
	struct side in, out;
	uv_connect_t connect;
	uv_getaddrinfo_t lookup;
};

#define CLIENT_SLOTS 1024

struct proxy {
	uv_loop_t loop;
	uv_tcp_t listener;
	uv_poll_t keeper;
	uv_timer_t timer;
	int sock;
	char wanted[2 * PROXY_SECRET + 32]; /* credentials in base64 */
	const char *secret;
	uint64_t last_id;
	size_t n_clients, max_clients;
	struct client *clients, *slots[CLIENT_SLOTS];
	char bytes[65536]; /* buffer of one read */
};

/* ---- proxy_process.c ---- */
void proxy_tell(struct proxy *p, const struct proxy_note *note);
void proxy_alloc(uv_handle_t *h, size_t size, uv_buf_t *buf);

/* ---- proxy_client.c ---- */
void client_accept(struct proxy *p);
struct client *client_find(struct proxy *p, uint64_t id); /* NULL: gone */
void client_tick(struct client *c, int64_t now_ms);	  /* each second */
/* Closes both ends; reset: like an aborted connection. */
void client_close(struct client *c, bool reset);
void client_unref(struct client *c);
/* Sends a refusal in the protocol of the client, and closes. */
void client_refuse(struct client *c, int status, const char *reason);
void client_tell(struct client *c, enum proxy_what what, int code);
int proxy_side_open(struct client *c, struct side *s) MUST_USE;
void proxy_side_close(struct side *s, bool reset);

/* ---- proxy_ask.c: reads the request of the client ---- */
void client_read_head(struct client *c);

/* ---- proxy_dial.c: from the keeper's answer to a connection ---- */
void client_note(struct proxy *p, const struct proxy_note *note);
void client_dial_late(struct client *c); /* the current address does not answer in time */
void client_dial_next(struct client *c); /* the socket of the last attempt is closed */

/* ---- proxy_upstream.c: from the connection to an upstream proxy to one to the host ---- */
void upstream_begin(struct client *c);
void upstream_fail(struct client *c, int code); /* code: as for upstream_words() */
void client_opened(struct client *c);		/* proxy_dial.c */

/* ---- proxy_named.c: the host that the client names in its first bytes ---- */
struct proxy_named;
void proxy_named_begin(struct client *c); /* for a connection that is open now */
void proxy_named_end(struct client *c);
/* Returns whether the next bytes of the client may be passed on. Else they are kept and the client
 * is not read until the keeper has answered. */
bool proxy_named_may_pass(struct client *c, const char *data, size_t len) MUST_USE;
bool proxy_named_waits(const struct client *c); /* for the keeper's answer */
void proxy_named_passed(struct client *c);	/* PROXY_PASS */

/* ---- proxy_pump.c ---- */
/* Writes, or keeps a copy until it can. Returns false if the end is broken: then all is closed. */
bool proxy_side_write(struct side *to, const char *data, size_t len) MUST_USE;
void proxy_side_read(struct side *s); /* continues, when the other end accepts data */
void proxy_side_stop(struct side *s);
void proxy_side_end(
	struct side *to); /* no more data follow to this end; closes when both have ended */
void pump_begin(struct client *c);
