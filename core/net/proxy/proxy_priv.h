/* proxy_priv - between the keeper's side of the proxy and its process, and in that. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/proxy/proxy.h"

#include <uv.h>

#include "core/net/host.h"

#define PROXY_ADDRS  8	/* that a name leads to; more are not tried */
#define PROXY_SECRET 33 /* bytes with the NUL */
#define PROXY_USER   "cordon"

enum proxy_what {
	/* to the keeper */
	PROXY_READY,	/* code: it serves, or why not */
	PROXY_WANT,	/* id, name, port: from port `from` of the loopback device */
	PROXY_RESOLVED, /* id, code, addr[n] */
	PROXY_OPEN,	/* id, addr[0]: dialled */
	PROXY_BYTES,	/* id, sent, received: as long as it is open */
	PROXY_CLOSED,	/* id, sent, received */
	PROXY_GONE,	/* id: nobody waits for it any more */
	/* from the keeper */
	PROXY_RESOLVE, /* id, name */
	PROXY_DIAL,    /* id, addr[n] to dial by turns */
	PROXY_REFUSE,  /* id, code, name: words */
	PROXY_END,     /* id: close this connection */
};

struct proxy_note {
	uint32_t what;
	int32_t code;
	uint64_t id, sent, received;
	uint16_t port, from, n, pad;
	struct net_addr addr[PROXY_ADDRS];
	char name[NET_TARGET_TEXT];
};

struct proxy_spec {
	const struct proxy_host *host;
	int sock;     /* to the keeper */
	int listener; /* the agent's connections come here */
	const char *secret;
};
NORETURN void proxy_run(const struct proxy_spec *spec);

/* ---- in the proxy's process; one loop, one thread -------------------------------------------- */

/*
 * A connection of the agent: read until it says where to, then the keeper is asked, then there are
 * two ends. Freed when no handle and no request of libuv's is left (refs).
 */
enum client_state {
	CLIENT_FIRST, /* HTTP or SOCKS, by the first byte */
	CLIENT_HTTP,
	CLIENT_WAYS, /* of SOCKS: three messages */
	CLIENT_SECRET,
	CLIENT_REQUEST,
	CLIENT_ASKED, /* the keeper decides */
	CLIENT_LOOKUP,
	CLIENT_DIAL,
	CLIENT_OPEN,
	CLIENT_REFUSED, /* the answer goes out */
	CLIENT_CLOSED,
};

/* One end of a connection. */
struct side {
	uv_tcp_t tcp;
	struct client *client;
	unsigned writes; /* that have not come to their end */
	uint64_t bytes;	 /* read from it */
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
	uint64_t body;	     /* !tunnel, !chunked: that the client still may send */
	int64_t deadline_ms; /* 0: none */
	struct net_target target;
	char *head; /* read and not passed on */
	size_t len, cap;
	char *forward; /* !tunnel: the head for the server */
	size_t forward_len;
	struct net_addr addr[PROXY_ADDRS];
	size_t n, at;
	int failed; /* why the last one could not be dialled */
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
	char bytes[65536]; /* what is read at a time */
};

/* ---- proxy_process.c ---- */
void proxy_tell(struct proxy *p, const struct proxy_note *note);
void proxy_alloc(uv_handle_t *h, size_t size, uv_buf_t *buf);

/* ---- proxy_client.c ---- */
void client_accept(struct proxy *p);
struct client *client_find(struct proxy *p, uint64_t id); /* NULL: gone */
void client_tick(struct client *c, int64_t now_ms);	  /* each second */
/* Ends both ends; reset: as a connection that was cut off. */
void client_close(struct client *c, bool reset);
void client_unref(struct client *c);
/* Answers what was asked, in the words of its protocol, and closes. */
void client_refuse(struct client *c, int status, const char *reason);
void client_tell(struct client *c, enum proxy_what what, int code);
int side_open(struct client *c, struct side *s) MUST_USE;
void side_close(struct side *s, bool reset);

/* ---- proxy_ask.c: what the client says, until all of it is there ---- */
void client_read_head(struct client *c);

/* ---- proxy_dial.c: from the keeper's answer to a connection ---- */
void client_note(struct proxy *p, const struct proxy_note *note);
void client_dial(struct client *c);	 /* the address whose turn it is */
void client_dial_late(struct client *c); /* nobody answers at that address */
void client_dial_next(struct client *c); /* the socket of the last attempt is closed */

/* ---- proxy_pump.c ---- */
/* Writes, or keeps a copy until it can be. False: the end is broken, and all is closed. */
bool side_write(struct side *to, const char *data, size_t len) MUST_USE;
void side_read(struct side *s); /* go on, when the other one takes it */
void side_stop(struct side *s);
void side_end(struct side *to); /* it will be sent nothing more; closes when both have ended */
void pump_begin(struct client *c);
