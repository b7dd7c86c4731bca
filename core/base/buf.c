/* buf - text being built; span - text being read. */
/* SPDX-License-Identifier: MIT */
#include "core/base/buf.h"

#include <assert.h>
#include <string.h>

char buf_empty[1];

void buf_done(struct buf *b)
{
	if (b->cap)
		free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *b)
{
	buf_truncate(b, 0);
}

void buf_reserve(struct buf *b, size_t extra)
{
	size_t want = b->len + extra + 1, cap = b->cap ? b->cap : 64;

	assert(want > extra);
	if (want <= b->cap)
		return;
	while (cap < want)
		cap += cap / 2 + 16;
	b->data = xrealloc(b->cap ? b->data : NULL, cap);
	b->cap = cap;
	b->data[b->len] = '\0';
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (len == 0)
		return;
	buf_reserve(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_ch(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	size_t room = b->cap ? b->cap - b->len : 0;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, again);
	va_end(again);
	assert(n >= 0);
	if ((size_t)n >= room) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	}
	b->len += (size_t)n;
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

void buf_drop_front(struct buf *b, size_t n)
{
	assert(n <= b->len);
	if (n == 0)
		return;
	memmove(b->data, b->data + n, b->len - n + 1);
	b->len -= n;
}

void buf_truncate(struct buf *b, size_t len)
{
	assert(len <= b->len);
	b->len = len;
	if (b->cap)
		b->data[len] = '\0';
}

char *buf_take(struct buf *b)
{
	char *s = b->cap ? b->data : xstrdup("");

	*b = (struct buf)BUF_INIT;
	return s;
}
