/* proxy_pump - moves bytes of a proxy connection in both directions, at the reader's pace. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/proxy/proxy_priv.h"

/*
 * Bytes are written as soon as they are read. Bytes that cannot be written yet are copied, and no
 * more are read from that end until the other has taken them: a connection holds at most one piece
 * of 64 KiB a direction.
 */
struct rest {
	uv_write_t req;
	struct side *to;
	char data[];
};

static struct side *other(struct side *s)
{
	return s == &s->client->in ? &s->client->out : &s->client->in;
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
	struct client *c = req->data;

	(void)status;
	free(req);
	client_unref(c);
}

void proxy_side_end(struct side *to)
{
	struct client *c = to->client;
	uv_shutdown_t *req;

	if (to->shut || to->writes || !to->live)
		return;
	to->shut = true;
	if (c->in.shut && c->out.shut) {
		client_close(c, false);
		return;
	}
	req = xmalloc(sizeof(*req));
	req->data = c;
	c->refs++;
	if (uv_shutdown(req, (uv_stream_t *)&to->tcp, on_shutdown) < 0) {
		free(req);
		client_unref(c);
		client_close(c, true);
	}
}

static void on_written(uv_write_t *req, int status)
{
	struct rest *rest = req->data;
	struct side *to = rest->to;
	struct client *c = to->client;

	free(rest);
	to->writes--;
	if (status < 0) {
		if (status != UV_ECANCELED)
			client_close(c, true);
	} else if (to->writes == 0 && c->state >= CLIENT_OPEN) {
		if (other(to)->eof || c->state == CLIENT_REFUSED)
			proxy_side_end(to);
		else
			proxy_side_read(other(to));
	}
	client_unref(c);
}

bool proxy_side_write(struct side *to, const char *data, size_t len)
{
	struct client *c = to->client;
	uv_buf_t buf = {.base = (char *)(uintptr_t)data, .len = len};
	struct rest *rest;
	int n = 0;

	if (len == 0)
		return true;
	if (!to->writes)
		n = uv_try_write((uv_stream_t *)&to->tcp, &buf, 1);
	if (n < 0 && n != UV_EAGAIN) {
		client_close(c, true);
		return false;
	}
	n = MAX(n, 0);
	if ((size_t)n == len)
		return true;
	rest = xmalloc(sizeof(*rest) + len - (size_t)n);
	rest->to = to;
	rest->req.data = rest;
	memcpy(rest->data, data + n, len - (size_t)n);
	buf = uv_buf_init(rest->data, (unsigned)(len - (size_t)n));
	if (uv_write(&rest->req, (uv_stream_t *)&to->tcp, &buf, 1, on_written) < 0) {
		free(rest);
		client_close(c, true);
		return false;
	}
	to->writes++;
	c->refs++;
	return true;
}

/* Returns how many of these bytes belong to the request. A next request would be for another host,
 * and comes over another connection. */
static size_t of_body(struct client *c, size_t len)
{
	if (c->tunnel || c->chunked)
		return len;
	len = MIN(len, c->body);
	c->body -= len;
	return len;
}

/* Passes bytes of the client on, or keeps them. Returns false if all is closed. */
static bool pass_on(struct client *c, const char *data, size_t len)
{
	if (!proxy_named_may_pass(c, data, len))
		return true;
	c->in.bytes += len;
	return proxy_side_write(&c->out, data, len);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct side *s = stream->data, *to = other(s);
	struct client *c = s->client;
	size_t len = (size_t)MAX(n, (ssize_t)0);

	if (n == 0 || c->state != CLIENT_OPEN)
		return;
	if (n < 0) {
		if (n != UV_EOF) {
			client_close(c, true);
			return;
		}
		s->eof = true;
		uv_read_stop(stream);
		proxy_side_end(to);
		return;
	}
	if (s == &c->in) {
		if (!pass_on(c, buf->base, of_body(c, len)))
			return;
	} else {
		s->bytes += len;
		if (!proxy_side_write(to, buf->base, len))
			return;
	}
	if (to->writes)
		uv_read_stop(stream);
}

void proxy_side_read(struct side *s)
{
	if (s == &s->client->in && proxy_named_waits(s->client))
		return;
	if (s->live && !s->eof && uv_read_start((uv_stream_t *)&s->tcp, proxy_alloc, on_read) < 0)
		client_close(s->client, true);
}

void proxy_side_stop(struct side *s)
{
	if (s->live)
		uv_read_stop((uv_stream_t *)&s->tcp);
}

/* Begins when both ends are connected: sends the answer to the client, and to the server the head
 * and the early bytes. */
void pump_begin(struct client *c)
{
	AUTO_FREE char *forward = take_ptr(&c->forward), *head = take_ptr(&c->head);
	size_t early = of_body(c, c->len);

	c->state = CLIENT_OPEN;
	c->deadline_ms = 0;
	uv_tcp_nodelay(&c->out.tcp, 1);
	uv_tcp_keepalive(&c->out.tcp, 1, 60);
	proxy_side_stop(&c->in);
	c->refs++; /* a write may end it */
	proxy_named_begin(c);
	c->in.bytes += c->forward_len;
	if (proxy_side_write(&c->out, forward, c->forward_len) && pass_on(c, head, early)) {
		proxy_side_read(&c->out);
		if (!c->out.writes)
			proxy_side_read(&c->in);
	}
	client_unref(c);
}
