/* proxy_upstream - asks the proxy of the user's network for a connection of the agent. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/proxy/proxy_priv.h"
#include "core/net/upstream.h"

void upstream_fail(struct client *c, int code)
{
	AUTO_BUF struct buf words = BUF_INIT;
	struct proxy_note note = {.what = PROXY_SAID};

	upstream_words(c->via, &c->target, code, &words);
	snprintf(note.name, sizeof(note.name), "%s", words.data);
	if (c->via->n) /* otherwise the start has reported it */
		proxy_tell(c->proxy, &note);
	client_refuse(c, code == 403 || code == 407 ? 403 : 502, words.data);
}

/* The host is connected. Bytes after the head of the answer come from the host. */
static void open_host(struct client *c, size_t head)
{
	struct buf heard = c->heard;
	const size_t rest = heard.len - head;

	c->heard = (struct buf)BUF_INIT;
	proxy_side_stop(&c->out);
	c->refs++;
	client_opened(c);
	if (c->state == CLIENT_OPEN && rest && proxy_side_write(&c->in, heard.data + head, rest))
		c->out.bytes += rest;
	client_unref(c);
	buf_done(&heard);
}

static void hear(struct client *c)
{
	int status = 0, r = upstream_answer(c->heard.data, c->heard.len, &status);

	if (r == 0)
		return;
	if (r > 0 && status >= 200 && status < 300)
		open_host(c, (size_t)r);
	else
		upstream_fail(c, r < 0 ? r : status);
}

static void on_answer(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct side *s = stream->data;
	struct client *c = s->client;

	if (n == 0 || c->state != CLIENT_VIA)
		return;
	if (n < 0) {
		upstream_fail(c, n == UV_EOF ? -ECONNRESET : (int)n);
		return;
	}
	buf_add(&c->heard, buf->base, (size_t)n);
	hear(c);
}

void upstream_begin(struct client *c)
{
	AUTO_BUF struct buf text = BUF_INIT;

	c->state = CLIENT_VIA;
	upstream_request(c->via, &c->target, &text);
	if (!proxy_side_write(&c->out, text.data, text.len))
		return;
	if (uv_read_start((uv_stream_t *)&c->out.tcp, proxy_alloc, on_answer) < 0)
		client_close(c, true);
}
