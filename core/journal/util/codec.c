/* codec - encodes and decodes numbers and strings, for log records and small files of a store. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/util/codec.h"

#include <string.h>

void codec_put_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

void codec_put_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

void codec_put_str(struct buf *b, const char *s, size_t len)
{
	codec_put_u32(b, (uint32_t)len);
	buf_add(b, s, len);
	buf_ch(b, '\0');
}

static const char *take(struct codec_reader *g, size_t n)
{
	const char *p = g->p;

	if (g->bad || (size_t)(g->end - g->p) < n) {
		g->bad = true;
		return NULL;
	}
	g->p += n;
	return p;
}

uint32_t codec_get_u32(struct codec_reader *g)
{
	const char *p = take(g, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t codec_get_u64(struct codec_reader *g)
{
	const char *p = take(g, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

struct span codec_get_str(struct codec_reader *g)
{
	size_t len = codec_get_u32(g);
	const char *p = take(g, len + 1);

	if (!p || p[len] != '\0') {
		g->bad = true;
		return (struct span){.data = "", .len = 0};
	}
	return (struct span){.data = p, .len = len};
}
