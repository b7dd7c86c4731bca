/* proxy_client - one connection of the agent to the proxy, from the first byte to the last. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/proxy/proxy_priv.h"
#include "core/net/http.h"
#include "core/net/socks.h"

#define HEAD_MS	   30000 /* to name the target */
#define REFUSED_MS 2000	 /* to read the answer */

/* ---- life ------------------------------------------------------------------------------------ */

static void unlink_client(struct client *c)
{
	struct proxy *p = c->proxy;
	struct client **link = &p->slots[c->id % CLIENT_SLOTS];

	while (*link != c)
		link = &(*link)->chain;
	*link = c->chain;
	*(c->prev ? &c->prev->next : &p->clients) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	p->n_clients--;
	if (!p->clients)
		uv_timer_stop(&p->timer);
}

void client_unref(struct client *c)
{
	if (--c->refs)
		return;
	unlink_client(c);
	free(c->head);
	free(c->forward);
	buf_done(&c->heard);
	proxy_named_end(c);
	free(c);
}

struct client *client_find(struct proxy *p, uint64_t id)
{
	struct client *c = p->slots[id % CLIENT_SLOTS];

	while (c && c->id != id)
		c = c->chain;
	return c;
}

static void on_closed(uv_handle_t *h)
{
	struct side *s = h->data;
	struct client *c = s->client;

	if (c->state == CLIENT_DIAL && s == &c->out)
		client_dial_next(c);
	client_unref(c);
}

void proxy_side_close(struct side *s, bool reset)
{
	if (!s->live)
		return;
	s->live = false;
	if (!reset || uv_tcp_close_reset(&s->tcp, on_closed) < 0)
		uv_close((uv_handle_t *)&s->tcp, on_closed);
}

void client_tell(struct client *c, enum proxy_what what, int code)
{
	struct proxy_note note = {.what = what,
				  .id = c->id,
				  .code = code,
				  .n = (uint16_t)c->n,
				  .sent = c->in.bytes,
				  .received = c->out.bytes};

	memcpy(note.addr, c->addr, sizeof(note.addr));
	proxy_tell(c->proxy, &note);
}

void client_close(struct client *c, bool reset)
{
	enum client_state was = c->state;

	if (was == CLIENT_CLOSED)
		return;
	c->state = CLIENT_CLOSED;
	if (was == CLIENT_OPEN)
		client_tell(c, PROXY_CLOSED, 0);
	else if (was >= CLIENT_ASKED && was < CLIENT_OPEN)
		client_tell(c, PROXY_GONE, 0);
	if (was == CLIENT_LOOKUP)
		uv_cancel((uv_req_t *)&c->lookup);
	proxy_side_close(&c->in, reset);
	proxy_side_close(&c->out, reset);
}

int proxy_side_open(struct client *c, struct side *s)
{
	int r = uv_tcp_init(&c->proxy->loop, &s->tcp);

	if (r < 0)
		return r;
	s->client = c;
	s->tcp.data = s;
	s->live = true;
	c->refs++;
	return 0;
}

/* ---- what the client says -------------------------------------------------------------------- */

static void on_head(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct side *s = stream->data;
	struct client *c = s->client;

	if (n == 0 || c->state == CLIENT_CLOSED || c->state == CLIENT_OPEN)
		return;
	if (n < 0) {
		client_close(c, n != UV_EOF);
		return;
	}
	if (c->state == CLIENT_REFUSED)
		return;
	if (c->len + (size_t)n > c->cap) {
		c->cap = c->len + (size_t)n;
		c->head = xrealloc(c->head, c->cap);
	}
	memcpy(c->head + c->len, buf->base, (size_t)n);
	c->len += (size_t)n;
	if (c->state < CLIENT_ASKED)
		client_read_head(c);
	/* Early bytes are passed on later; a client that sends many must wait. */
	if (c->state >= CLIENT_ASKED && c->state < CLIENT_OPEN && c->len > HTTP_HEAD_MAX)
		proxy_side_stop(&c->in);
}

void client_accept(struct proxy *p)
{
	struct client *c = xcalloc(1, sizeof(*c));

	c->proxy = p;
	c->heard = (struct buf)BUF_INIT;
	c->id = ++p->last_id;
	c->chain = p->slots[c->id % CLIENT_SLOTS];
	p->slots[c->id % CLIENT_SLOTS] = c;
	c->next = p->clients;
	if (c->next)
		c->next->prev = c;
	p->clients = c;
	if (p->n_clients++ == 0)
		uv_update_time(&p->loop);
	c->deadline_ms = (int64_t)uv_now(&p->loop) + HEAD_MS;
	c->refs = 1; /* for this function */
	if (proxy_side_open(c, &c->in) < 0 ||
	    uv_accept((uv_stream_t *)&p->listener, (uv_stream_t *)&c->in.tcp) < 0) {
		client_close(c, false);
	} else if (p->n_clients > p->max_clients) {
		client_refuse(c, 503, "too many connections at a time");
	} else {
		uv_tcp_nodelay(&c->in.tcp, 1);
		if (uv_read_start((uv_stream_t *)&c->in.tcp, proxy_alloc, on_head) < 0)
			client_close(c, false);
	}
	client_unref(c);
}

/* ---- what it is answered --------------------------------------------------------------------- */

static enum socks_reply reply_of(int status)
{
	return status == 403 ? SOCKS_FORBIDDEN : status == 400 ? SOCKS_FAILED : SOCKS_NO_HOST;
}

void client_refuse(struct client *c, int status, const char *reason)
{
	AUTO_BUF struct buf text = BUF_INIT;
	uint8_t reply[SOCKS_REPLY];

	if (c->state >= CLIENT_REFUSED)
		return;
	if (c->state >= CLIENT_ASKED && c->state < CLIENT_OPEN && !c->told)
		client_tell(c, PROXY_GONE, 0);
	c->state = CLIENT_REFUSED;
	c->deadline_ms = (int64_t)uv_now(&c->proxy->loop) + REFUSED_MS;
	proxy_side_close(&c->out, false);
	if (c->socks) {
		socks_answer(reply, reply_of(status));
		buf_add(&text, reply, sizeof(reply));
	} else {
		http_answer(&text, status, reason);
	}
	/* The answer would be cut off by closing at once, while the client still sends. */
	c->refs++;
	if (proxy_side_write(&c->in, text.data, text.len))
		proxy_side_end(&c->in);
	client_unref(c);
}

void client_tick(struct client *c, int64_t now_ms)
{
	uint64_t moved = c->in.bytes + c->out.bytes;

	if (c->state == CLIENT_OPEN && moved != c->told_bytes) {
		c->told_bytes = moved;
		client_tell(c, PROXY_BYTES, 0);
	}
	if (!c->deadline_ms || now_ms < c->deadline_ms)
		return;
	if (c->state == CLIENT_DIAL)
		client_dial_late(c);
	else if (c->state == CLIENT_VIA)
		upstream_fail(c, -ETIMEDOUT);
	else if (c->state == CLIENT_REFUSED || c->socks || c->len == 0)
		client_close(c, false);
	else
		client_refuse(c, 408, "the head of the request did not come");
}
