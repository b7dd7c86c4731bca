/* proxy_ask - parses the requests of the proxy's clients: HTTP or SOCKS, the secret, the target. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/proxy/proxy_priv.h"
#include "core/net/http.h"
#include "core/net/socks.h"

/* Drops the first bytes, which were handled. */
static void drop(struct client *c, size_t n)
{
	c->len -= n;
	memmove(c->head, c->head + n, c->len);
}

/* Compares in the same time wherever the first difference is. */
static bool is_same(struct span s, const char *secret)
{
	size_t len = strlen(secret);
	unsigned char differ = s.len != len;

	for (size_t i = 0; i < s.len && i < len; i++)
		differ |= (unsigned char)(s.data[i] ^ secret[i]);
	return !differ;
}

static void ask(struct client *c)
{
	struct proxy_note note = {.what = PROXY_WANT, .id = c->id, .port = c->target.port};
	struct sockaddr_storage from = {0};
	struct net_addr at;
	int len = sizeof(from);
	char text[NET_TARGET_TEXT];
	struct net_target host = {.host = c->target.host};

	if (uv_tcp_getpeername(&c->in.tcp, (struct sockaddr *)&from, &len) < 0 ||
	    !net_addr_from_sock(&at, &note.from, (struct sockaddr *)&from, (socklen_t)len)) {
		client_close(c, false);
		return;
	}
	net_target_format(&host, text);
	snprintf(note.name, sizeof(note.name), "%s", text);
	c->state = CLIENT_ASKED;
	c->deadline_ms = 0;
	proxy_tell(c->proxy, &note);
}

static void read_http(struct client *c)
{
	struct http_request r;
	const char *why;
	int n = http_read(&r, c->head, c->len, &why);

	if (n == 0)
		return;
	if (n < 0) {
		client_refuse(c, n == -E2BIG ? 431 : 400, why);
		return;
	}
	if (!is_same(r.credentials, c->proxy->wanted)) {
		client_refuse(c, 407,
			      "this proxy is for one session alone: take its address, with "
			      "user and password, from HTTPS_PROXY");
		return;
	}
	c->tunnel = r.tunnel;
	c->chunked = r.chunked;
	c->body = r.body;
	c->target = r.target;
	if (!r.tunnel) {
		struct buf out = BUF_INIT;

		http_forward(&r, &out);
		c->forward_len = out.len;
		c->forward = buf_take(&out);
	}
	drop(c, (size_t)n);
	ask(c);
}

static void say(struct client *c, uint8_t version, uint8_t word, enum client_state next)
{
	const char bytes[2] = {(char)version, (char)word};

	c->state = next;
	c->refs++;
	if (proxy_side_write(&c->in, bytes, sizeof(bytes)) && next == CLIENT_REFUSED)
		proxy_side_end(&c->in);
	client_unref(c);
}

/* Reads one message. Returns its length, 0 if it is incomplete, or a negative number if the
 * connection is over. */
static int read_socks(struct client *c)
{
	const uint8_t *data = (const uint8_t *)c->head;
	enum socks_reply reply = SOCKS_OK;
	struct span name, secret;
	bool knows;
	int n;

	if (c->state == CLIENT_WAYS) {
		n = socks_read_ways(&knows, data, c->len);
		if (n > 0)
			say(c, SOCKS_VERSION, knows ? SOCKS_PASSWORD : SOCKS_NO_WAY,
			    knows ? CLIENT_SECRET : CLIENT_REFUSED);
	} else if (c->state == CLIENT_SECRET) {
		n = socks_read_secret(&name, &secret, data, c->len);
		knows = n > 0 && is_same(name, PROXY_USER) && is_same(secret, c->proxy->secret);
		if (n > 0)
			say(c, 1, !knows, knows ? CLIENT_REQUEST : CLIENT_REFUSED);
	} else {
		n = socks_read_request(&c->target, &reply, data, c->len);
		if (n > 0 && reply != SOCKS_OK)
			client_refuse(c, reply == SOCKS_NO_COMMAND ? 405 : 502, NULL);
		c->tunnel = true;
	}
	return n;
}

void client_read_head(struct client *c)
{
	c->refs++;
	if (c->state == CLIENT_FIRST) {
		c->socks = c->len && c->head[0] == SOCKS_VERSION;
		c->state = c->socks ? CLIENT_WAYS : CLIENT_HTTP;
	}
	if (c->state == CLIENT_HTTP)
		read_http(c);
	while (c->socks && c->len && c->state >= CLIENT_WAYS && c->state <= CLIENT_REQUEST) {
		bool last = c->state == CLIENT_REQUEST;
		int n = read_socks(c);

		if (n <= 0) {
			if (n < 0)
				client_close(c, false);
			break;
		}
		drop(c, (size_t)n);
		if (last && c->state == CLIENT_REQUEST)
			ask(c);
	}
	client_unref(c);
}
