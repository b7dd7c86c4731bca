/* runner_link - the socket to the runner in the sandbox: queues and sends packets, reads whole
 * ones. */
/* SPDX-License-Identifier: MIT */
#include "core/api/runner_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "core/base/util.h"

struct packet {
	struct packet *next;
	size_t len, at; /* at: bytes of it that were sent */
	char data[];
};

static void on_ready(uv_poll_t *poll, int status, int events);

static void watch(struct runner_link *l)
{
	if (!l->closed && !l->broken)
		uv_poll_start(&l->poll, UV_READABLE | (l->out ? UV_WRITABLE : 0), on_ready);
}

static void flush(struct runner_link *l)
{
	while (l->out) {
		struct packet *p = l->out;
		ssize_t n =
			send(l->sock, p->data + p->at, p->len - p->at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		p->at += (size_t)MAX(n, 0);
		if (n >= 0 && p->at < p->len)
			break;
		LL_DELETE(l->out, p); /* the next read shows whether the runner has ended */
		free(p);
	}
	watch(l);
}

void runner_link_send(struct runner_link *l, const struct runner_head *h, const void *bytes,
		      size_t len)
{
	struct packet *p = xmalloc(sizeof(*p) + sizeof(*h) + len);
	struct runner_head head = *h;

	head.len = (uint32_t)len;
	p->len = sizeof(head) + len;
	p->at = 0;
	memcpy(p->data, &head, sizeof(head));
	if (len)
		memcpy(p->data + sizeof(head), bytes, len);
	LL_APPEND(l->out, p);
	flush(l);
}

/* Passes on the whole packets that have arrived. Returns false if the bytes are not packets. */
static bool take_packets(struct runner_link *l)
{
	struct runner_head h;
	size_t at = 0;

	while (!l->closed && l->n_in - at >= sizeof(h)) {
		char *bytes = l->in + at + sizeof(h), first;

		memcpy(&h, l->in + at, sizeof(h));
		if (h.len > RUNNER_BYTES)
			return false;
		if (l->n_in - at - sizeof(h) < h.len)
			break;
		first = bytes[h.len]; /* of the next packet, if there is one */
		bytes[h.len] = '\0';
		l->packet(l, &h, bytes);
		bytes[h.len] = first;
		at += sizeof(h) + h.len;
	}
	l->n_in -= at;
	memmove(l->in, l->in + at, l->n_in);
	return true;
}

static void read_packets(struct runner_link *l)
{
	for (int i = 0; i < 64 && !l->closed; i++) {
		ssize_t n =
			recv(l->sock, l->in + l->n_in, sizeof(l->in) - 1 - l->n_in, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		l->n_in += (size_t)MAX(n, 0);
		if (n <= 0 || !take_packets(l)) {
			l->broken = true;
			uv_poll_stop(&l->poll);
			l->gone(l);
			return;
		}
	}
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	struct runner_link *l = poll->data;

	if (status < 0 || events & UV_READABLE)
		read_packets(l);
	if (!l->closed && events & UV_WRITABLE)
		flush(l);
}

void runner_link_open(struct runner_link *l, uv_loop_t *loop, int sock)
{
	l->sock = sock;
	l->poll.data = l;
	uv_poll_init(loop, &l->poll, sock);
	watch(l);
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct runner_link *l = handle->data;

	close(l->sock);
	l->free_it(l);
}

void runner_link_close(struct runner_link *l)
{
	struct packet *p, *next;

	l->closed = true;
	for (p = l->out; p && (next = p->next, true); p = next)
		free(p);
	l->out = NULL;
	uv_close((uv_handle_t *)&l->poll, on_poll_closed);
}
