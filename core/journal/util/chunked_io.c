/* chunked_io - reads and writes files of the store in chunks, however long they are. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/util/chunked_io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/util/codec.h"

#define PIECE ((size_t)64 << 10)

void chunked_out_begin(struct chunked_out *o, int dirfd, const char *name)
{
	AUTO_FREE char *tmp = xasprintf("%s.tmp", name);

	*o = (struct chunked_out){.dirfd = dirfd, .name = name, .buf = BUF_INIT};
	o->fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* The keeper's umask is that of the process for which it acts. */
	if (o->fd < 0 || fchmod(o->fd, 0600) < 0)
		o->r = -errno;
}

static void flush(struct chunked_out *o)
{
	if (o->r == 0)
		o->r = io_write_all(o->fd, o->buf.data, o->buf.len);
	o->written += o->buf.len;
	buf_clear(&o->buf);
}

void chunked_out_spill(struct chunked_out *o)
{
	if (o->buf.len >= PIECE)
		flush(o);
}

void chunked_out_add(struct chunked_out *o, struct span bytes)
{
	flush(o);
	if (o->r == 0)
		o->r = io_write_all(o->fd, bytes.data, bytes.len);
	o->written += bytes.len;
}

uint64_t chunked_out_len(const struct chunked_out *o)
{
	return o->written + o->buf.len;
}

int chunked_out_end(struct chunked_out *o, int why, struct span head)
{
	AUTO_FREE char *tmp = xasprintf("%s.tmp", o->name);
	int r;

	flush(o);
	r = why < 0 ? why : o->r;
	if (r == 0 && head.len)
		r = io_pwrite_all(o->fd, head.data, head.len, 0);
	if (r == 0 && renameat(o->dirfd, tmp, o->dirfd, o->name) < 0)
		r = -errno;
	if (r < 0 && o->fd >= 0)
		unlinkat(o->dirfd, tmp, 0);
	util_close_fd(&o->fd);
	buf_done(&o->buf);
	return r;
}

int chunked_in_open(struct chunked_in *in, int dirfd, const char *name)
{
	*in = (struct chunked_in)CHUNKED_IN_NONE;
	in->fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return in->fd < 0 ? -errno : 0;
}

struct codec_reader chunked_in_get(const struct chunked_in *in)
{
	return (struct codec_reader){.p = in->win.data + in->at, .end = in->win.data + in->win.len};
}

int chunked_in_more(struct chunked_in *in)
{
	ssize_t n;

	buf_drop_front(&in->win, in->at);
	in->at = 0;
	buf_reserve(&in->win, PIECE);
	/* A short read is no end, but most files fit in one: looking for their end costs a call. */
	do
		n = read(in->fd, in->win.data + in->win.len, PIECE);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EBADMSG;
	in->win.len += (size_t)n;
	in->win.data[in->win.len] = '\0';
	return 0;
}

void chunked_in_took(struct chunked_in *in, const struct codec_reader *g)
{
	in->at = (size_t)(g->p - in->win.data);
}

void chunked_in_done(struct chunked_in *in)
{
	buf_done(&in->win);
	util_close_fd(&in->fd);
}
