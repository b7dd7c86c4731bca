/* mask - replaces secrets in a stream of bytes by stars. */
/* SPDX-License-Identifier: MIT */
#include "core/net/mask.h"

#include <string.h>

#include "core/os/text.h"

static size_t cover(struct buf *b, const char *secret)
{
	const size_t len = strlen(secret);
	char *at = b->data;
	size_t n = 0;

	while (len && (at = memmem(at, b->len - (size_t)(at - b->data), secret, len))) {
		memset(at, '*', len);
		at += len;
		n++;
	}
	return n;
}

/* Returns how many bytes at the end may begin this secret. */
static size_t begun(const struct buf *b, const char *secret)
{
	const size_t len = strlen(secret);

	for (size_t n = len ? MIN(len - 1, b->len) : 0; n; n--)
		if (memcmp(b->data + b->len - n, secret, n) == 0)
			return n;
	return 0;
}

/* Passes the bytes before `until`, then drops the first ones, which have passed. */
static void pass(struct mask *m, size_t until, size_t drop, struct buf *out)
{
	const size_t left = m->held.len - drop;

	if (until > m->past) {
		buf_add(out, m->held.data + m->past, until - m->past);
		m->past = until;
	}
	m->past -= drop;
	memmove(m->held.data, m->held.data + drop, left);
	explicit_bzero(m->held.data + left, drop);
	buf_truncate(&m->held, left);
}

size_t mask_feed(struct mask *m, const char *const *secrets, size_t n, const char *data, size_t len,
		 struct buf *out)
{
	size_t covered = 0, keep = 0;

	buf_add(&m->held, data, len);
	for (size_t i = 0; i < n; i++)
		covered += secrets[i] ? cover(&m->held, secrets[i]) : 0;
	for (size_t i = 0; i < n; i++)
		keep = MAX(keep, secrets[i] ? begun(&m->held, secrets[i]) : 0);
	pass(m, m->held.len - keep, m->held.len - keep, out);
	return covered;
}

bool mask_holds(const struct mask *m)
{
	return m->held.len > m->past;
}

void mask_end(struct mask *m, struct buf *out)
{
	pass(m, m->held.len, 0, out);
}

void mask_done(struct mask *m)
{
	if (m->held.cap)
		explicit_bzero(m->held.data, m->held.cap);
	buf_done(&m->held);
}
