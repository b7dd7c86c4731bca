/* buf - text being built; span - text being read. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>

#include "core/base/util.h"

/*
 * Invariants: data is never NULL and always NUL-terminated at data[len]; data may hold any bytes.
 * Life:       `AUTO_BUF struct buf b = BUF_INIT;` or buf_done() by hand; buf_clear() to use again.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap; /* 0 while data is the shared empty string */
};

struct span {
	const char *data;
	size_t len;
};

extern char buf_empty[1];
#define BUF_INIT                                                                                   \
	{                                                                                          \
		.data = buf_empty, .len = 0, .cap = 0                                              \
	}
#define AUTO_BUF CLEANUP(buf_done)

void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_reserve(struct buf *b, size_t extra);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_ch(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vfmt(struct buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
void buf_drop_front(struct buf *b, size_t n); /* moves the rest to the front; n <= len */
void buf_truncate(struct buf *b, size_t len); /* len <= b->len */
char *buf_take(struct buf *b) MUST_USE;	      /* returns a heap string; the buf is empty then */
