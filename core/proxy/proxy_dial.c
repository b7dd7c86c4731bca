/* proxy_dial - from the keeper's answer to a connection: resolves the name, tries its addresses. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "core/proxy/proxy_priv.h"
#include "core/net/http.h"
#include "core/net/socks.h"
#include "core/net/upstream.h"

#define DIAL_MS 20000 /* for an address, if others follow */
#define LAST_MS 130000

/* ---- names ----------------------------------------------------------------------------------- */

static void on_looked_up(uv_getaddrinfo_t *req, int status, struct addrinfo *list)
{
	struct client *c = req->data;
	uint16_t port;

	c->n = 0;
	for (struct addrinfo *a = list; a && c->n < PROXY_ADDRS; a = a->ai_next)
		if (net_addr_from_sock(&c->addr[c->n], &port, a->ai_addr, a->ai_addrlen))
			c->n++;
	uv_freeaddrinfo(list);
	if (c->state == CLIENT_LOOKUP) {
		c->state = CLIENT_ASKED;
		client_tell(c, PROXY_RESOLVED, status);
		if (c->n == 0) {
			c->told = true;
			client_refuse(c, 502,
				      status == UV_EAI_NONAME || status == UV_EAI_NODATA
					      ? "there is no host of this name"
					      : "the name could not be looked up");
		}
	}
	client_unref(c);
}

static void look_up(struct client *c)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	int r;

	c->state = CLIENT_LOOKUP;
	c->lookup.data = c;
	c->refs++;
	r = uv_getaddrinfo(&c->proxy->loop, &c->lookup, on_looked_up, c->target.host.name, NULL,
			   &hints);
	if (r < 0)
		on_looked_up(&c->lookup, r, NULL);
}

static size_t addresses(const struct client *c)
{
	return c->via ? c->via->n : c->n;
}

static const struct net_addr *address(const struct client *c)
{
	return c->via ? &c->via->addr[c->at] : &c->addr[c->at];
}

/* ---- connections ----------------------------------------------------------------------------- */

void client_opened(struct client *c)
{
	uint8_t reply[SOCKS_REPLY];
	AUTO_BUF struct buf text = BUF_INIT;

	c->addr[0] = *address(c);
	c->n = 1;
	client_tell(c, PROXY_OPEN, 0);
	if (c->socks) {
		socks_answer(reply, SOCKS_OK);
		buf_add(&text, reply, sizeof(reply));
	} else if (c->tunnel) {
		http_answer(&text, 200, NULL);
	}
	c->state = CLIENT_OPEN;
	if (proxy_side_write(&c->in, text.data, text.len))
		pump_begin(c);
}

static void fail(struct client *c, int code)
{
	static const struct {
		int code, status;
		const char *words;
	} known[] = {{UV_ECONNREFUSED, 502, "the host refuses the connection"},
		     {UV_ETIMEDOUT, 504, "the host does not answer"},
		     {UV_EHOSTUNREACH, 502, "there is no way to the host"},
		     {UV_ENETUNREACH, 502, "there is no way to the host's network"}};

	if (c->via) {
		upstream_fail(c, code ? code : -EHOSTUNREACH);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (known[i].code == code) {
			client_refuse(c, known[i].status, known[i].words);
			return;
		}
	}
	client_refuse(c, 502, uv_strerror(code));
}

static void on_connected(uv_connect_t *req, int status)
{
	struct client *c = req->data;

	if (c->state == CLIENT_DIAL && status == 0 && c->via) {
		upstream_begin(c);
	} else if (c->state == CLIENT_DIAL && status == 0) {
		client_opened(c);
	} else if (c->state == CLIENT_DIAL) {
		if (!c->failed)
			c->failed = status;
		proxy_side_close(&c->out, false); /* client_dial() follows */
	}
	client_unref(c);
}

/* Dials the next address. */
static void client_dial(struct client *c)
{
	bool more = c->at + 1 < addresses(c);
	struct sockaddr_storage to;
	int r;

	if (c->at >= addresses(c)) {
		fail(c, c->failed);
		return;
	}
	(void)net_addr_to_sock(address(c), c->via ? c->via->port : c->target.port, &to);
	c->failed = 0;
	c->connect.data = c;
	c->deadline_ms = (int64_t)uv_now(&c->proxy->loop) + (more ? DIAL_MS : LAST_MS);
	r = proxy_side_open(c, &c->out);
	if (r == 0)
		r = uv_tcp_connect(&c->connect, &c->out.tcp, (struct sockaddr *)&to, on_connected);
	if (r == 0) {
		c->refs++;
		return;
	}
	c->failed = r;
	if (c->out.live)
		proxy_side_close(&c->out, false);
	else
		fail(c, r);
}

void client_dial_next(struct client *c)
{
	c->at++;
	client_dial(c);
}

void client_dial_late(struct client *c)
{
	c->deadline_ms = 0;
	c->failed = UV_ETIMEDOUT;
	proxy_side_close(&c->out, false); /* on_connected() follows, with ECANCELED */
}

/* ---- the keeper's answers -------------------------------------------------------------------- */

void client_note(struct proxy *p, const struct proxy_note *note)
{
	struct client *c = client_find(p, note->id);

	if (!c || c->state == CLIENT_CLOSED)
		return;
	if (note->what == PROXY_END) {
		client_close(c, true);
	} else if (note->what == PROXY_PASS) {
		proxy_named_passed(c);
	} else if (c->state == CLIENT_ASKED && note->what == PROXY_RESOLVE) {
		look_up(c);
	} else if (c->state == CLIENT_ASKED && note->what == PROXY_DIAL) {
		c->n = MIN(note->n, (uint16_t)PROXY_ADDRS);
		memcpy(c->addr, note->addr, sizeof(c->addr));
		c->at = 0;
		c->via = c->n ? NULL : upstream_for(&c->target);
		c->state = CLIENT_DIAL;
		client_dial(c);
	} else if (c->state == CLIENT_ASKED && note->what == PROXY_REFUSE) {
		c->told = true;
		client_refuse(c, note->code, note->name);
	}
}
