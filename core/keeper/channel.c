/* channel - the socket to cordon: sends frames (wire.h), receives bytes. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/state.h"
#include "core/os/poller.h"
#include "core/os/socket.h"

#define IN_MAX	 (4u * WIRE_MAX)
#define DRAIN_MS 5000
#define OUT_KEEP (1u << 20) /* memory that an idle buffer may keep */

static void watch_out(struct keeper *k, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN | (on ? EPOLLOUT : 0u), .data.ptr = NULL};

	if (k->out_watched == on)
		return;
	k->out_watched = on;
	epoll_ctl(k->epoll, EPOLL_CTL_MOD, k->sock, &ev);
}

void keeper_flush(struct keeper *k)
{
	while (k->out_sent < k->out.len) {
		ssize_t n = send(k->sock, k->out.data + k->out_sent, k->out.len - k->out_sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0) {
			k->gone = k->quit = true;
			k->out_sent = k->out.len;
			break;
		}
		k->out_sent += (size_t)n;
	}
	if (k->out_sent == k->out.len) {
		if (k->out.cap > OUT_KEEP)
			buf_done(&k->out);
		buf_clear(&k->out);
		k->out_sent = 0;
	} else if (k->out_sent > OUT_KEEP) {
		buf_drop_front(&k->out, k->out_sent);
		k->out_sent = 0;
	}
	k->urgent = false;
	k->flush_at = 0;
	watch_out(k, k->out.len > 0);
}

void keeper_drain(struct keeper *k)
{
	int64_t end = clock_mono_us() + DRAIN_MS * 1000;

	keeper_flush(k);
	while (k->out.len && !k->gone && clock_mono_us() < end) {
		struct pollfd p = {.fd = k->sock, .events = POLLOUT};

		poll(&p, 1, 100);
		keeper_flush(k);
	}
}

void keeper_urgent(struct keeper *k)
{
	k->urgent = true;
}

PRINTF_LIKE(3, 0)
static void send_note(struct keeper *k, enum note_how how, const char *fmt, va_list ap)
{
	AUTO_BUF struct buf words = BUF_INIT;
	size_t mark;

	buf_vfmt(&words, fmt, ap);
	log_info("keeper", "%s", words.data);
	mark = wire_begin(&k->out, WIRE_NOTE);
	wire_u8(&k->out, (uint8_t)how);
	wire_str(&k->out, words.data, words.len);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

void keeper_tell_turn(struct keeper *k, bool begins, const char *words)
{
	size_t mark = wire_begin(&k->out, WIRE_TURN_BEGAN);

	wire_u8(&k->out, begins);
	wire_str(&k->out, words, strlen(words));
	wire_end(&k->out, mark);
}

void keeper_tell_asks(struct keeper *k, bool asks)
{
	size_t mark = wire_begin(&k->out, WIRE_AGENT_ASKS);

	wire_u8(&k->out, asks);
	wire_end(&k->out, mark);
	k->agent_asks = asks;
}

void keeper_tell_rests(struct keeper *k, bool rests)
{
	size_t mark = wire_begin(&k->out, WIRE_AGENT_RESTS);

	wire_u8(&k->out, rests);
	wire_end(&k->out, mark);
	k->agent_rests = rests;
}

void keeper_tell_noticed(struct keeper *k, uint64_t n)
{
	size_t mark = wire_begin(&k->out, WIRE_NOTICED);

	wire_u64(&k->out, n);
	wire_end(&k->out, mark);
}

void keeper_tell_point(struct keeper *k, const char *name)
{
	size_t mark = wire_begin(&k->out, WIRE_POINT_DONE);

	wire_cstr(&k->out, name);
	wire_end(&k->out, mark);
}

void keeper_note(struct keeper *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send_note(k, HEARD_QUIETLY, fmt, ap);
	va_end(ap);
}

void keeper_warn(struct keeper *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send_note(k, HEARD_ALOUD, fmt, ap);
	va_end(ap);
}

void keeper_recovered(struct keeper *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send_note(k, HEARD_RECOVERED, fmt, ap);
	va_end(ap);
}

void keeper_drop_handed(struct keeper *k, size_t n)
{
	n = MIN(n, k->n_handed);
	for (size_t i = 0; i < n; i++)
		close(k->handed[i]);
	k->n_handed -= n;
	memmove(k->handed, k->handed + n, k->n_handed * sizeof(int));
}

int keeper_recv(struct keeper *k)
{
	for (;;) {
		ssize_t n;

		if (k->in.len > IN_MAX)
			return -EPIPE; /* the frame is invalid */
		buf_reserve(&k->in, 16u << 10);
		/* Descriptors come with the first byte of their frame. */
		n = io_recv_fds(k->sock, k->in.data + k->in.len, 16u << 10, k->handed, &k->n_handed,
				ARRAY_LEN(k->handed), MSG_DONTWAIT);
		if (n == -EAGAIN)
			return 0;
		if (n <= 0)
			return -EPIPE;
		k->in.len += (size_t)n;
		k->in.data[k->in.len] = '\0';
	}
}
