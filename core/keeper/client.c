/* client - cordon's side of the keeper's socket: requests out, decoded events in. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/os/socket.h"

#define READ_MAX (256u << 10) /* per turn, because the console has other work */

struct client {
	int fd;
	client_on_event on;
	void *data;
	uint64_t last_request;
	struct buf in, out;
	int handing[3];	   /* descriptors to send with a byte of out, */
	size_t handing_at; /* this byte; handing[0] < 0: none wait */
	bool gone, bad;	   /* gone: end of file; bad: an invalid frame */
	bool deaf;	   /* sending failed; received bytes may still be read */
};

struct client *client_new(int fd, client_on_event on, void *data)
{
	struct client *c = xcalloc(1, sizeof(*c));

	c->fd = fd;
	c->handing[0] = c->handing[1] = c->handing[2] = -1;
	c->on = on;
	c->data = data;
	c->in = (struct buf)BUF_INIT;
	c->out = (struct buf)BUF_INIT;
	return c;
}

static void drop_handing(struct client *c)
{
	for (size_t i = 0; i < ARRAY_LEN(c->handing); i++)
		util_close_fd(&c->handing[i]);
}

void client_free(struct client *c)
{
	if (!c)
		return;
	drop_handing(c);
	util_close_fd(&c->fd);
	buf_done(&c->in);
	buf_done(&c->out);
	free(c);
}

int client_fd(const struct client *c)
{
	return c->fd;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static int dispatch_all(struct client *c)
{
	size_t at = 0;
	int r = 0;

	while (r == 0) {
		const struct buf rest = {.data = c->in.data + at, .len = c->in.len - at};
		struct wire_in in;
		size_t used;

		r = wire_next(&rest, &in, &used);
		if (r <= 0)
			break;
		r = client_decode(&in, c->on, c->data);
		at += used;
	}
	buf_drop_front(&c->in, at);
	return r;
}

int client_read(struct client *c)
{
	size_t got = 0;
	int r;

	if (c->bad)
		return -EBADMSG;
	while (got < READ_MAX && !c->gone) {
		ssize_t n;

		buf_reserve(&c->in, 64u << 10);
		n = recv(c->fd, c->in.data + c->in.len, 64u << 10, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0) {
			c->gone = true;
			break;
		}
		c->in.len += (size_t)n;
		c->in.data[c->in.len] = '\0';
		got += (size_t)n;
	}
	r = dispatch_all(c);
	if (r < 0) {
		c->bad = true;
		return r;
	}
	return c->gone ? -EPIPE : 0;
}

/* ---- sending --------------------------------------------------------------------------------- */

bool client_wants_write(const struct client *c)
{
	return c->out.len > 0 && !c->deaf;
}

/* Sends bytes: up to the byte that has descriptors, or from it on. */
static ssize_t send_some(struct client *c)
{
	bool waits = c->handing[0] >= 0, now = waits && c->handing_at == 0;
	ssize_t n = io_send_fds(c->fd, c->out.data, waits && !now ? c->handing_at : c->out.len,
				c->handing, now ? ARRAY_LEN(c->handing) : 0, MSG_DONTWAIT);

	if (n > 0 && now)
		drop_handing(c);
	else if (n > 0 && waits)
		c->handing_at -= (size_t)n;
	return n;
}

void client_write(struct client *c)
{
	while (c->out.len && !c->deaf) {
		ssize_t n = send_some(c);

		if (n == -EAGAIN)
			return;
		if (n < 0)
			c->deaf = true;
		else
			buf_drop_front(&c->out, (size_t)n);
	}
}

static void finish(struct client *c, size_t mark)
{
	wire_end(&c->out, mark);
	client_write(c);
}

void client_answer(struct client *c, uint64_t ask, const struct answer *a)
{
	size_t mark = wire_begin(&c->out, WIRE_ANSWER);

	wire_u64(&c->out, ask);
	wire_u8(&c->out, a->allow);
	wire_u8(&c->out, (uint8_t)a->scope);
	wire_u8(&c->out, (uint8_t)a->extent);
	wire_u8(&c->out, (uint8_t)a->up);
	wire_i64(&c->out, a->until);
	finish(c, mark);
}

void client_revoke(struct client *c, uint64_t rule)
{
	size_t mark = wire_begin(&c->out, WIRE_REVOKE);

	wire_u64(&c->out, rule);
	finish(c, mark);
}

void client_end_flow(struct client *c, uint64_t flow)
{
	size_t mark = wire_begin(&c->out, WIRE_END_FLOW);

	wire_u64(&c->out, flow);
	finish(c, mark);
}

void client_forbid(struct client *c, uint64_t ask, const char *target)
{
	size_t mark = wire_begin(&c->out, WIRE_FORBID);

	wire_u64(&c->out, ask);
	wire_cstr(&c->out, target);
	finish(c, mark);
}

void client_publish(struct client *c, uint16_t port, uint16_t host_port, const char *by)
{
	size_t mark = wire_begin(&c->out, WIRE_PUBLISH);

	wire_u32(&c->out, port);
	wire_u32(&c->out, host_port);
	wire_cstr(&c->out, by);
	finish(c, mark);
}

void client_secret_kept(struct client *c, uint64_t id)
{
	size_t mark = wire_begin(&c->out, WIRE_SECRET_KEPT);

	wire_u64(&c->out, id);
	finish(c, mark);
}

uint64_t client_plan(struct client *c, enum undo_kind kind, size_t n, unsigned flags)
{
	size_t mark = wire_begin(&c->out, WIRE_PLAN_REQ);

	wire_u64(&c->out, ++c->last_request);
	wire_u8(&c->out, (uint8_t)kind);
	wire_u64(&c->out, n);
	wire_u32(&c->out, flags);
	finish(c, mark);
	return c->last_request;
}

uint64_t client_undo(struct client *c, enum undo_kind kind, size_t n, unsigned flags,
		     int64_t newest, uint64_t seal)
{
	size_t mark = wire_begin(&c->out, WIRE_UNDO_REQ);

	wire_u64(&c->out, ++c->last_request);
	wire_u8(&c->out, (uint8_t)kind);
	wire_u64(&c->out, n);
	wire_u32(&c->out, flags);
	wire_i64(&c->out, newest);
	wire_u64(&c->out, seal);
	finish(c, mark);
	return c->last_request;
}

/* flags: UNDO_*; for a hunk its number. */
static uint64_t restore(struct client *c, enum wire_restore what, int64_t step,
			const char *const *paths, unsigned flags)
{
	size_t mark = wire_begin(&c->out, WIRE_RESTORE_REQ);
	uint32_t n = (uint32_t)util_list_len(paths);

	wire_u64(&c->out, c->last_request + 1);
	wire_u8(&c->out, (uint8_t)what);
	wire_i64(&c->out, step);
	wire_u32(&c->out, flags);
	wire_u32(&c->out, n);
	for (size_t i = 0; paths[i]; i++) {
		size_t len = strlen(paths[i]);

		/* Fail rather than restore only a part of the list. */
		if (len > WIRE_STR_MAX || c->out.len - mark + len + 8 > WIRE_MAX) {
			buf_truncate(&c->out, mark);
			return 0;
		}
		wire_str(&c->out, paths[i], len);
	}
	finish(c, mark);
	return ++c->last_request;
}

uint64_t client_restore(struct client *c, int64_t step, const char *const *paths, unsigned flags)
{
	return restore(c, WIRE_RESTORE_PATHS, step, paths, flags);
}

uint64_t client_restore_plan(struct client *c, int64_t step, const char *const *paths,
			     unsigned flags)
{
	return restore(c, WIRE_RESTORE_PLAN, step, paths, flags);
}

uint64_t client_restore_hunk(struct client *c, int64_t step, const char *path, unsigned hunk)
{
	const char *const paths[] = {path, NULL};

	return restore(c, WIRE_RESTORE_HUNK, step, paths, hunk);
}

void client_cancel(struct client *c, uint64_t request)
{
	size_t mark = wire_begin(&c->out, WIRE_CANCEL);

	wire_u64(&c->out, request);
	finish(c, mark);
}

void client_signal(struct client *c, int sig)
{
	size_t mark = wire_begin(&c->out, WIRE_SIGNAL);

	wire_u32(&c->out, (uint32_t)sig);
	finish(c, mark);
}

static bool put_list(struct client *c, size_t mark, const char *const *list)
{
	uint32_t n = (uint32_t)util_list_len(list);

	wire_u32(&c->out, n);
	for (uint32_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);

		if (len > WIRE_STR_MAX || c->out.len - mark + len + 16 > WIRE_MAX)
			return false;
		wire_str(&c->out, list[i], len);
	}
	return true;
}

int client_shell(struct client *c, uint64_t id, struct shell_wish *w)
{
	size_t mark = wire_begin(&c->out, WIRE_SHELL);
	bool busy = c->handing[0] >= 0, fits;

	wire_u64(&c->out, id);
	wire_u8(&c->out, w->tty);
	wire_cstr(&c->out, w->cwd);
	fits = put_list(c, mark, w->env) && put_list(c, mark, w->argv);
	if (busy || !fits)
		buf_truncate(&c->out, mark);
	for (size_t i = 0; i < ARRAY_LEN(c->handing); i++) {
		if (busy || !fits)
			util_close_fd(&w->stdio[i]);
		else
			c->handing[i] = take_fd(&w->stdio[i]);
	}
	if (busy || !fits)
		return busy ? -EBUSY : -E2BIG;
	c->handing_at = mark;
	finish(c, mark);
	return 0;
}

void client_shell_signal(struct client *c, uint64_t id, int sig)
{
	size_t mark = wire_begin(&c->out, WIRE_SHELL_SIGNAL);

	wire_u64(&c->out, id);
	wire_u32(&c->out, (uint32_t)sig);
	finish(c, mark);
}

void client_limits(struct client *c, const struct limits *l)
{
	size_t mark = wire_begin(&c->out, WIRE_LIMITS);

	wire_u64(&c->out, l->size);
	wire_u64(&c->out, l->step_size);
	wire_u64(&c->out, l->steps);
	wire_u64(&c->out, l->deletes);
	wire_u64(&c->out, l->overwrites);
	wire_u64(&c->out, l->renames);
	wire_u64(&c->out, l->overwrite_bytes);
	wire_u64(&c->out, l->timeout_s);
	finish(c, mark);
}

void client_group(struct client *c, const char *name)
{
	size_t mark = wire_begin(&c->out, WIRE_GROUP);

	wire_cstr(&c->out, name);
	finish(c, mark);
}

void client_stop(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_STOP));
}

void client_turn(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_TURN));
}

void client_notice(struct client *c, const char *line)
{
	size_t mark = wire_begin(&c->out, WIRE_NOTICE);

	wire_cstr(&c->out, line);
	finish(c, mark);
}

void client_freeze(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_FREEZE));
}

void client_shutdown(struct client *c)
{
	finish(c, wire_begin(&c->out, WIRE_SHUTDOWN));
}
