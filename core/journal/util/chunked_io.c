/* chunked_io - reads and writes files of the store in chunks, however long they are. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/log/undo_log.h"
#include "core/journal/util/chunked_io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"

#define PIECE ((size_t)64 << 10)

void out_begin(struct out *o, int dirfd, const char *name)
{
	AUTO_FREE char *tmp = xasprintf("%s.tmp", name);

	*o = (struct out){.dirfd = dirfd, .name = name, .buf = BUF_INIT};
	o->fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* The keeper's umask is that of whoever it acts for. */
	if (o->fd < 0 || fchmod(o->fd, 0600) < 0)
		o->r = -errno;
}

static void flush(struct out *o)
{
	if (o->r == 0)
		o->r = io_write_all(o->fd, o->buf.data, o->buf.len);
	o->written += o->buf.len;
	buf_clear(&o->buf);
}

void out_spill(struct out *o)
{
	if (o->buf.len >= PIECE)
		flush(o);
}

void out_add(struct out *o, struct span bytes)
{
	flush(o);
	if (o->r == 0)
		o->r = io_write_all(o->fd, bytes.data, bytes.len);
	o->written += bytes.len;
}

uint64_t out_len(const struct out *o)
{
	return o->written + o->buf.len;
}

int out_end(struct out *o, int why, struct span head, bool durable)
{
	AUTO_FREE char *tmp = xasprintf("%s.tmp", o->name);
	int r;

	flush(o);
	r = why < 0 ? why : o->r;
	if (r == 0 && head.len)
		r = io_pwrite_all(o->fd, head.data, head.len, 0);
	if (r == 0 && durable && fsync(o->fd) < 0)
		r = -errno;
	if (r == 0 && renameat(o->dirfd, tmp, o->dirfd, o->name) < 0)
		r = -errno;
	if (r < 0 && o->fd >= 0)
		unlinkat(o->dirfd, tmp, 0);
	util_close_fd(&o->fd);
	buf_done(&o->buf);
	return r;
}

int in_open(struct in *in, int dirfd, const char *name)
{
	*in = (struct in)IN_NONE;
	in->fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return in->fd < 0 ? -errno : 0;
}

struct get in_get(const struct in *in)
{
	return (struct get){.p = in->win.data + in->at, .end = in->win.data + in->win.len};
}

int in_more(struct in *in)
{
	ssize_t n;

	buf_drop_front(&in->win, in->at);
	in->at = 0;
	buf_reserve(&in->win, PIECE);
	n = io_read_full(in->fd, in->win.data + in->win.len, PIECE);
	if (n <= 0)
		return n < 0 ? (int)n : -EBADMSG;
	in->win.len += (size_t)n;
	in->win.data[in->win.len] = '\0';
	return 0;
}

void in_took(struct in *in, const struct get *g)
{
	in->at = (size_t)(g->p - in->win.data);
}

void in_done(struct in *in)
{
	buf_done(&in->win);
	util_close_fd(&in->fd);
}
