/* channel - reads and writes lines over two descriptors on a loop, with bounded queues. */
/* SPDX-License-Identifier: MIT */
#include "core/api/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "core/base/clock.h"
#include "core/base/io.h"

#define READ_BYTES  65536
#define TURN_LINES  256 /* per turn, so that other channels get theirs */
#define BLOCK_BYTES 65536

struct block {
	struct block *next;
	size_t len, at;
	char data[BLOCK_BYTES];
};

struct channel {
	const struct channel_listener *on;
	void *data;
	uv_poll_t reading, writing; /* data is the channel, in all handles */
	uv_prepare_t before;	    /* writes all that was sent in one turn of the loop */
	uv_idle_t again;	    /* lines are waiting, or the input is a file */
	int in, out;		    /* our own copies */
	int handles;
	bool in_file, out_file; /* files are not polled, and never full */
	bool in_over, out_over, closed, armed, paused, skipping, owned, raw, held, finishing;
	int given_in, given_out;
	size_t longest;
	struct buf got;
	size_t used, looked; /* of got: bytes consumed; bytes searched for a newline */
	struct block *first, *last, *spare;
	size_t waiting;
	int64_t taken_us; /* when the reader last took bytes, or a write began to wait */
};

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) && !isatty(fd);
}

/*
 * Opens a copy of the descriptor that does not block. Other processes that share the descriptor
 * must not find it non-blocking, so a pipe or a terminal is reopened by its name in /proc. A socket
 * cannot be reopened: it must belong to this process alone, as it becomes non-blocking itself.
 */
static int own_copy(int fd, int how)
{
	AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", fd);
	int copy;

	if (!is_file(fd)) {
		copy = open(path, how | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		if (copy >= 0)
			return copy;
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy >= 0 && !is_file(copy))
		io_set_nonblock(copy, true);
	return copy;
}

/* ---- out ------------------------------------------------------------------------------------- */

static void on_writable(uv_poll_t *poll, int status, int events);
static void on_closed(uv_handle_t *handle);
static void resume(struct channel *c);
static void work(struct channel *c);

static void drop_blocks(struct channel *c)
{
	while (c->first) {
		struct block *b = c->first;

		c->first = b->next;
		free(b);
	}
	c->last = NULL;
	c->waiting = 0;
}

static void out_ended(struct channel *c)
{
	if (c->out_over)
		return;
	c->out_over = true;
	drop_blocks(c);
	if (!c->out_file)
		uv_poll_stop(&c->writing);
	c->armed = false;
	if (!c->closed)
		c->on->ended(c->data, true);
	if (!c->closed && !c->in_over)
		resume(c); /* the channel has room again */
}

static ssize_t write_some(struct channel *c)
{
	struct block *b = c->first;
	ssize_t n = write(c->out, b->data + b->at, b->len - b->at);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	b->at += (size_t)n;
	c->waiting -= (size_t)n;
	if (b->at < b->len)
		return n;
	c->first = b->next;
	if (!c->first)
		c->last = NULL;
	free(c->spare);
	c->spare = b;
	return n;
}

/* Returns 0, or the error that stopped it. */
static int write_out(struct channel *c)
{
	size_t taken = 0;
	ssize_t n = 0;

	while (c->first && (n = write_some(c)) >= 0)
		taken += (size_t)n;
	if (taken)
		c->taken_us = clock_mono_us();
	if (taken && c->on->sent && !c->closed)
		c->on->sent(c->data, taken);
	return n < 0 ? (int)n : 0;
}

/* Watches for the end of the reader at once, even with nothing to write. */
static void watch_out(struct channel *c)
{
	c->armed = c->first != NULL;
	uv_poll_start(&c->writing, UV_DISCONNECT | (c->armed ? UV_WRITABLE : 0), on_writable);
}

static void flush(struct channel *c)
{
	int r = write_out(c);

	if (c->closed)
		return;
	if (r < 0 && r != -EAGAIN) {
		out_ended(c);
		return;
	}
	if (!c->out_file && c->armed != (c->first != NULL))
		watch_out(c);
	resume(c);
}

static void on_finished(uv_handle_t *handle)
{
	struct channel *c = handle->data;

	util_close_fd(&c->out);
	on_closed(handle);
}

/* Ends the output when all of it is written. */
static void finish(struct channel *c)
{
	c->out_over = true;
	if (c->out_file) {
		util_close_fd(&c->out);
		return;
	}
	c->out_file = true; /* channel_close() has no handle to close */
	uv_close((uv_handle_t *)&c->writing, on_finished);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
	struct channel *c = poll->data;

	if (status < 0 || events & UV_DISCONNECT)
		out_ended(c);
	else
		flush(c);
}

static void on_before(uv_prepare_t *before)
{
	struct channel *c = before->data;

	if (c->first && !c->armed)
		flush(c);
	if (c->finishing && !c->first && !c->out_over)
		finish(c);
}

static struct block *room(struct channel *c)
{
	struct block *b = c->last;

	if (b && b->len < BLOCK_BYTES)
		return b;
	b = c->spare ? take_ptr(&c->spare) : xmalloc(sizeof(*b));
	b->next = NULL;
	b->len = b->at = 0;
	if (c->last)
		c->last->next = b;
	else
		c->first = b;
	c->last = b;
	return b;
}

void channel_send(struct channel *c, const struct buf *text)
{
	if (c->closed || c->out_over)
		return;
	if (!c->waiting)
		c->taken_us = clock_mono_us();
	for (size_t at = 0; at < text->len;) {
		struct block *b = room(c);
		size_t n = MIN(text->len - at, BLOCK_BYTES - b->len);

		memcpy(b->data + b->len, text->data + at, n);
		b->len += n;
		at += n;
	}
	c->waiting += text->len;
}

size_t channel_waiting(const struct channel *c)
{
	return c->waiting;
}

int64_t channel_stalled(const struct channel *c)
{
	return c->waiting ? clock_mono_us() - c->taken_us : 0;
}

void channel_flush(struct channel *c, int milliseconds)
{
	int64_t until = clock_mono_us() + (int64_t)milliseconds * 1000;

	while (c->first && !c->out_over) {
		struct pollfd p = {.fd = c->out, .events = POLLOUT};
		int r = write_out(c);
		int64_t left = (until - clock_mono_us()) / 1000;

		if (r != -EAGAIN || left <= 0)
			return;
		poll(&p, 1, (int)left);
	}
}

void channel_finish(struct channel *c)
{
	c->finishing = true;
}

void channel_hold(struct channel *c, bool hold)
{
	if (c->held == hold || c->closed)
		return;
	c->held = hold;
	if (!c->in_over)
		work(c);
}

/* ---- in -------------------------------------------------------------------------------------- */

static void on_readable(uv_poll_t *poll, int status, int events);
static void on_again(uv_idle_t *again);

/* Skips the rest of a line that is too long. */
static void skip_long(struct channel *c)
{
	if (c->got.len - c->used <= c->longest)
		return;
	if (!c->skipping)
		c->on->too_long(c->data);
	c->skipping = true;
	buf_clear(&c->got);
	c->used = c->looked = 0;
}

static bool take_line(struct channel *c)
{
	char *from = c->got.data + c->used;
	char *newline = c->got.len > c->looked
				? memchr(c->got.data + c->looked, '\n', c->got.len - c->looked)
				: NULL;
	size_t len;

	if (!newline) {
		c->looked = c->got.len;
		return false;
	}
	len = (size_t)(newline - from);
	c->used = c->looked = (size_t)(newline - c->got.data) + 1;
	*newline = '\0';
	if (c->skipping) {
		c->skipping = false;
		return true;
	}
	if (len > c->longest)
		c->on->too_long(c->data);
	else
		c->on->line(c->data, from, len);
	return true;
}

/* Takes lines. Returns false if there are more than one turn takes. */
static bool take_lines(struct channel *c)
{
	if (c->raw && !c->held && c->got.len) {
		c->on->line(c->data, c->got.data, c->got.len);
		buf_clear(&c->got);
		c->used = c->looked = 0;
	}
	if (c->raw)
		return true;
	for (int i = 0; i < TURN_LINES; i++) {
		if (c->closed || c->waiting > CHANNEL_PAUSE)
			return false;
		if (take_line(c))
			continue;
		buf_drop_front(&c->got, c->used);
		c->looked -= c->used;
		c->used = 0;
		skip_long(c);
		return true;
	}
	return false;
}

static void in_ended(struct channel *c)
{
	if (c->in_over)
		return;
	/* The last line may lack its newline. */
	if (c->got.len > c->used && !c->skipping && !c->raw) {
		buf_ch(&c->got, '\n');
		take_lines(c);
	}
	if (c->closed)
		return;
	c->in_over = true;
	uv_idle_stop(&c->again);
	if (!c->in_file)
		uv_poll_stop(&c->reading);
	c->on->ended(c->data, false);
}

static void read_more(struct channel *c)
{
	ssize_t n;

	buf_reserve(&c->got, READ_BYTES);
	n = read(c->in, c->got.data + c->got.len, READ_BYTES);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		in_ended(c);
		return;
	}
	c->got.len += (size_t)n;
	c->got.data[c->got.len] = '\0';
}

static void work(struct channel *c)
{
	bool all = take_lines(c);

	if (c->closed || c->in_over)
		return;
	c->paused = c->held || c->waiting > CHANNEL_PAUSE;
	if (c->paused || (!all && !c->in_file))
		uv_poll_stop(&c->reading);
	if (!c->paused && (!all || c->in_file))
		uv_idle_start(&c->again, on_again);
	else
		uv_idle_stop(&c->again);
	if (!c->paused && all && !c->in_file)
		uv_poll_start(&c->reading, UV_READABLE, on_readable);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct channel *c = poll->data;

	(void)status, (void)events;
	read_more(c);
	if (!c->in_over)
		work(c);
}

static void on_again(uv_idle_t *again)
{
	struct channel *c = again->data;

	if (c->in_file && c->looked == c->got.len)
		read_more(c);
	if (!c->in_over)
		work(c);
}

static void resume(struct channel *c)
{
	if (c->paused && !c->held && c->waiting <= CHANNEL_PAUSE / 2)
		work(c);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct channel *channel_open(uv_loop_t *loop, const struct channel_spec *spec,
			     const struct channel_listener *on, void *data)
{
	struct channel *c = xcalloc(1, sizeof(*c));

	c->on = on;
	c->data = data;
	c->longest = spec->longest;
	c->owned = spec->owned;
	c->raw = spec->raw;
	c->given_in = spec->in;
	c->given_out = spec->out;
	c->got = (struct buf)BUF_INIT;
	c->in = own_copy(spec->in, O_RDONLY);
	c->out = own_copy(spec->out, O_WRONLY);
	c->in_file = is_file(c->in);
	c->out_file = is_file(c->out);
	c->reading.data = c->writing.data = c->before.data = c->again.data = c;
	uv_prepare_init(loop, &c->before);
	uv_prepare_start(&c->before, on_before);
	uv_idle_init(loop, &c->again);
	c->handles = 2;
	if (!c->in_file && uv_poll_init(loop, &c->reading, c->in) == 0)
		c->handles++;
	else
		c->in_file = true;
	if (!c->out_file && uv_poll_init(loop, &c->writing, c->out) == 0) {
		c->handles++;
		watch_out(c);
	} else {
		c->out_file = true;
	}
	if (c->in_file)
		uv_idle_start(&c->again, on_again);
	else
		uv_poll_start(&c->reading, UV_READABLE, on_readable);
	return c;
}

static void on_closed(uv_handle_t *handle)
{
	struct channel *c = handle->data;

	if (--c->handles)
		return;
	util_close_fd(&c->in);
	util_close_fd(&c->out);
	if (c->owned) {
		close(c->given_in);
		if (c->given_out != c->given_in)
			close(c->given_out);
	}
	drop_blocks(c);
	free(c->spare);
	buf_done(&c->got);
	free(c);
}

void channel_close(struct channel *c)
{
	if (!c || c->closed)
		return;
	c->closed = true;
	uv_close((uv_handle_t *)&c->before, on_closed);
	uv_close((uv_handle_t *)&c->again, on_closed);
	if (!c->in_file)
		uv_close((uv_handle_t *)&c->reading, on_closed);
	if (!c->out_file)
		uv_close((uv_handle_t *)&c->writing, on_closed);
}
