/* pty - the agent's pseudo-terminal: open, size, pump, write queue. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/pty.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "tui/term/term.h"

int pty_open(struct pty *p, int rows, int cols, int *ret_slave, struct err *err)
{
	int master = io_open_pty(ret_slave);

	if (master < 0)
		return err_set(err, master, "open a terminal for the agent");
	*p = (struct pty)PTY_INIT;
	p->fd = master;
	p->chunk = xmalloc(PTY_CHUNK);
	pty_resize(p, rows, cols);
	return 0;
}

void pty_done(struct pty *p)
{
	util_close_fd(&p->fd);
	p->fd = -1;
	free(p->chunk);
	buf_done(&p->queue);
	*p = (struct pty)PTY_INIT;
}

int pty_resize(struct pty *p, int rows, int cols)
{
	struct winsize ws = {
		.ws_row = (unsigned short)MIN(MAX(rows, TERM_MIN), TERM_MAX),
		.ws_col = (unsigned short)MIN(MAX(cols, TERM_MIN), TERM_MAX),
	};

	return ioctl(p->fd, TIOCSWINSZ, &ws) < 0 ? -errno : 0;
}

/* Fills the chunk: the kernel returns 4 KiB at a time, but larger pieces are processed faster. */
static int fill_chunk(struct pty *p)
{
	p->chunk_at = p->chunk_len = 0;
	while (p->chunk_len < PTY_CHUNK) {
		ssize_t n = read(p->fd, p->chunk + p->chunk_len, PTY_CHUNK - p->chunk_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0) {
			p->chunk_len += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EAGAIN)
			return p->chunk_len ? 1 : 0;
		return p->chunk_len ? 1 : -EIO;
	}
	return 1;
}

int pty_pump(struct pty *p, struct term *t, int64_t budget_us)
{
	int64_t deadline = clock_mono_us() + budget_us;
	size_t fed;

	do {
		if (p->chunk_at == p->chunk_len) {
			int r = fill_chunk(p);

			if (r <= 0)
				return r;
		}
		fed = term_feed_until(t, p->chunk + p->chunk_at, p->chunk_len - p->chunk_at,
				      deadline);
		if (p->tap)
			p->tap(p->tap_data, p->chunk + p->chunk_at, fed);
		p->chunk_at += fed;
	} while (clock_mono_us() < deadline);
	return 1;
}

bool pty_wants_write(const struct pty *p)
{
	return p->queue.len > p->sent;
}

int pty_flush(struct pty *p)
{
	while (pty_wants_write(p)) {
		ssize_t n = write(p->fd, p->queue.data + p->sent, p->queue.len - p->sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		p->sent += (size_t)n;
	}
	if (!pty_wants_write(p)) {
		buf_clear(&p->queue);
		p->sent = 0;
	} else if (p->sent > PTY_QUEUE_MAX / 2) {
		buf_drop_front(&p->queue, p->sent);
		p->sent = 0;
	}
	return 0;
}

int pty_write(struct pty *p, const void *bytes, size_t len)
{
	if (p->queue.len - p->sent + len > PTY_QUEUE_MAX)
		return -ENOBUFS;
	buf_add(&p->queue, bytes, len);
	return pty_flush(p);
}
