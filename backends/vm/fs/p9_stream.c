/* p9_stream - 9P over a stream socket: whole messages in, answers out. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/p9_stream.h"

#include <errno.h>
#include <sys/socket.h>

#include "backends/vm/fs/p9_wire.h"

#define PIECE	65536
#define OUT_MAX (2 * P9_MSIZE_MAX) /* who reads no answers is asked nothing more */

struct p9_stream {
	int sock;
	struct p9_session *session;
	struct buf in, out;
	size_t sent; /* of out */
	bool broken;
};

static void flush(struct p9_stream *c)
{
	while (c->sent < c->out.len) {
		ssize_t n = send(c->sock, c->out.data + c->sent, c->out.len - c->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			c->broken = errno != EAGAIN;
			return;
		}
		c->sent += (size_t)n;
	}
	buf_clear(&c->out);
	c->sent = 0;
}

static void on_answer(void *data, const void *message, size_t len)
{
	struct p9_stream *c = data;

	buf_add(&c->out, message, len);
	flush(c);
}

struct p9_stream *p9_stream_new(int sock, struct fs_tree *tree)
{
	struct p9_stream *c = xcalloc(1, sizeof(*c));

	c->sock = sock;
	c->in = c->out = (struct buf)BUF_INIT;
	c->session = p9_new(tree, on_answer, c);
	return c;
}

void p9_stream_free(struct p9_stream *c)
{
	if (!c)
		return;
	p9_free(c->session);
	buf_done(&c->in);
	buf_done(&c->out);
	util_close_fd(&c->sock);
	free(c);
}

static bool is_full(const struct p9_stream *c)
{
	return c->out.len - c->sent > OUT_MAX;
}

void p9_stream_poll(const struct p9_stream *c, struct pollfd *p)
{
	*p = (struct pollfd){.fd = c->sock,
			     .events = (short)((is_full(c) ? 0 : POLLIN) |
					       (c->out.len > c->sent ? POLLOUT : 0))};
}

/* Every whole message that is there. */
static bool serve_all(struct p9_stream *c)
{
	size_t at = 0;

	while (c->in.len - at >= P9_HEAD) {
		struct p9_in in = {.at = (const uint8_t *)c->in.data + at,
				   .end = (const uint8_t *)c->in.data + c->in.len};
		uint32_t len = p9_u32(&in);

		if (len < P9_HEAD || len > p9_msize(c->session))
			return false;
		if (len > c->in.len - at || is_full(c))
			break;
		if (!p9_serve(c->session, c->in.data + at, len))
			return false;
		at += len;
	}
	buf_drop_front(&c->in, at);
	return true;
}

bool p9_stream_serve(struct p9_stream *c, short revents)
{
	ssize_t n = -1;

	if (revents & POLLOUT)
		flush(c);
	if (revents & (POLLIN | POLLHUP | POLLERR)) {
		buf_reserve(&c->in, PIECE);
		n = recv(c->sock, c->in.data + c->in.len, PIECE, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
	}
	if (n > 0) {
		c->in.len += (size_t)n;
		c->in.data[c->in.len] = '\0';
	}
	return serve_all(c) && !c->broken;
}
