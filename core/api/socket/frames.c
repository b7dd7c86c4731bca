/* frames - frames between a console's client and its host, both ways over one socket. */
/* SPDX-License-Identifier: MIT */
#include "core/api/socket/frames.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/os/socket.h"

#define FRAMES_COMPACT	  ((size_t)64 << 10) /* sent bytes that are kept at most */
#define FRAMES_STALLED_MS 50		     /* time for a stalled peer to read on */

struct head {
	uint32_t type, len;
};

void frames_open(struct frames *l, int fd)
{
	*l = (struct frames){.fd = fd, .in = BUF_INIT, .out = BUF_INIT};
	io_set_nonblock(fd, true);
}

void frames_close(struct frames *l)
{
	util_close_fd(&l->fd);
	buf_done(&l->in);
	buf_done(&l->out);
}

int frames_fill(struct frames *l)
{
	ssize_t n;

	buf_drop_front(&l->in, l->used);
	l->used = 0;
	buf_reserve(&l->in, 65536);
	do
		n = recv(l->fd, l->in.data + l->in.len, 65536, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -EAGAIN : -EPIPE;
	l->in.len += (size_t)n;
	l->in.data[l->in.len] = '\0';
	return 0;
}

int frames_next(struct frames *l, struct frame *ret)
{
	size_t left = l->in.len - l->used;
	struct head h;

	if (left < sizeof(h))
		return 0;
	memcpy(&h, l->in.data + l->used, sizeof(h));
	if (h.type < FRAME_HELLO || h.type > FRAME_ERRORS || h.len > FRAME_BYTES_MAX)
		return -EPROTO;
	if (left - sizeof(h) < h.len)
		return 0;
	*ret = (struct frame){.type = (enum frame_type)h.type,
			      .data = {l->in.data + l->used + sizeof(h), h.len}};
	l->used += sizeof(h) + h.len;
	return 1;
}

int frames_send(struct frames *l, enum frame_type type, const void *data, size_t len)
{
	const struct head h = {.type = type, .len = (uint32_t)len};

	if (l->fd < 0)
		return -EPIPE;
	if (len > FRAME_BYTES_MAX || l->out.len - l->sent + len > FRAMES_QUEUE_MAX)
		return -ENOBUFS;
	if (l->sent > FRAMES_COMPACT) {
		buf_drop_front(&l->out, l->sent);
		l->sent = 0;
	}
	buf_add(&l->out, &h, sizeof(h));
	buf_add(&l->out, data, len);
	return frames_flush(l);
}

int frames_flush(struct frames *l)
{
	while (l->sent < l->out.len) {
		ssize_t n = send(l->fd, l->out.data + l->sent, l->out.len - l->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -EPIPE;
		l->sent += (size_t)n;
	}
	buf_clear(&l->out);
	l->sent = 0;
	return 0;
}

bool frames_wants_write(const struct frames *l)
{
	return l->sent < l->out.len;
}

size_t frames_unread(const struct frames *l)
{
	return l->out.len - l->sent + os_socket_unread(l->fd);
}

void frames_finish(struct frames *l, int64_t until_us)
{
	struct pollfd p = {.fd = l->fd, .events = POLLOUT};

	while (l->fd >= 0 && frames_flush(l) == 0 && frames_wants_write(l)) {
		int64_t left = (until_us - clock_mono_us()) / 1000 + 1;

		if (left <= 0 ||
		    poll(&p, 1, (int)(l->stalled ? MIN(left, FRAMES_STALLED_MS) : left)) == 0)
			break;
	}
}

/* ---- the end of a console ---------------------------------------------------------------------
 */

static void put(struct buf *out, const char *s)
{
	buf_ch(out, s ? '+' : '-');
	buf_add(out, s ? s : "", s ? strlen(s) + 1 : 1);
}

void ending_put(const struct ending *e, struct buf *out)
{
	buf_fmt(out, "%d %d %d", e->status, e->detached, e->again);
	buf_add(out, "", 1);
	put(out, e->error);
	put(out, e->words);
	put(out, e->kept);
	put(out, e->next);
}

/* Returns the next string, or NULL at the end of the data. */
static const char *take(struct span *left)
{
	const char *s = left->data, *nul = left->len ? memchr(s, '\0', left->len) : NULL;
	size_t len = nul ? (size_t)(nul - s) + 1 : 0;

	left->data += len;
	left->len -= len;
	return nul ? s : NULL;
}

int ending_get(struct ending *e, const struct span *data)
{
	char **const strings[] = {&e->error, &e->words, &e->kept, &e->next};
	struct span left = *data;
	const char *s = take(&left);
	int detached, again;

	*e = (struct ending){0};
	if (!s || sscanf(s, "%d %d %d", &e->status, &detached, &again) != 3)
		return -EPROTO;
	e->detached = detached;
	e->again = again;
	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		s = take(&left);
		if (!s)
			return -EPROTO;
		*strings[i] = *s == '+' ? xstrdup(s + 1) : NULL;
	}
	return 0;
}

void ending_done(struct ending *e)
{
	free(e->error);
	free(e->words);
	free(e->kept);
	free(e->next);
	*e = (struct ending){0};
}

/* ---- a program beside the agent -------------------------------------------------------------- */

void shell_order_put(const struct shell_order *o, struct buf *out)
{
	size_t n_env = util_list_len(o->env);

	buf_fmt(out, "%d %u %u %zu", o->tty, o->size.w, o->size.h, n_env);
	buf_add(out, "", 1);
	buf_add(out, o->cwd, strlen(o->cwd) + 1);
	for (size_t i = 0; i < n_env; i++)
		buf_add(out, o->env[i], strlen(o->env[i]) + 1);
	for (size_t i = 0; o->argv[i]; i++)
		buf_add(out, o->argv[i], strlen(o->argv[i]) + 1);
}

int shell_order_get(struct shell_order *o, const struct span *data)
{
	struct span left = *data;
	const char *s = take(&left), *cwd = s ? take(&left) : NULL;
	unsigned w, h;
	int tty;
	size_t n_env, n = 0;

	*o = (struct shell_order){0};
	if (!cwd || sscanf(s, "%d %u %u %zu", &tty, &w, &h, &n_env) != 4 || n_env > left.len)
		return -EPROTO;
	o->tty = tty;
	o->size = (struct frame_size){.w = (uint16_t)w, .h = (uint16_t)h};
	o->cwd = xstrdup(cwd);
	o->env = xcalloc(n_env + 1, sizeof(*o->env));
	o->argv = xcalloc(left.len + 1, sizeof(*o->argv)); /* each has at least one byte */
	while (n < n_env && (s = take(&left)))
		o->env[n++] = xstrdup(s);
	for (n = 0; (s = take(&left)); n++)
		o->argv[n] = xstrdup(s);
	if (n && !left.len)
		return 0;
	shell_order_done(o);
	return -EPROTO;
}

void shell_order_done(struct shell_order *o)
{
	free(o->cwd);
	util_free_list(&o->env);
	util_free_list(&o->argv);
	*o = (struct shell_order){0};
}
