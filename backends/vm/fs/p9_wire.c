/* p9_wire - the fields of 9P messages: little-endian numbers, and strings with a length. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/p9_wire.h"

#include <string.h>

const void *p9_bytes(struct p9_in *in, size_t len)
{
	const uint8_t *at = in->at;

	if (in->bad || len > (size_t)(in->end - at)) {
		in->bad = true;
		return NULL;
	}
	in->at += len;
	return at;
}

static uint64_t number(struct p9_in *in, size_t len)
{
	const uint8_t *p = p9_bytes(in, len);
	uint64_t v = 0;

	for (size_t i = 0; p && i < len; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint8_t p9_u8(struct p9_in *in)
{
	return (uint8_t)number(in, 1);
}

uint16_t p9_u16(struct p9_in *in)
{
	return (uint16_t)number(in, 2);
}

uint32_t p9_u32(struct p9_in *in)
{
	return (uint32_t)number(in, 4);
}

uint64_t p9_u64(struct p9_in *in)
{
	return number(in, 8);
}

void p9_str(struct p9_in *in, char *out, size_t size)
{
	size_t len = p9_u16(in);
	const char *p = p9_bytes(in, len);

	*out = '\0';
	if (!p || len >= size || memchr(p, '\0', len)) {
		in->bad = true;
		return;
	}
	memcpy(out, p, len);
	out[len] = '\0';
}

static void put(struct buf *out, uint64_t v, size_t len)
{
	char bytes[8];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(v >> (8 * i));
	buf_add(out, bytes, len);
}

void p9_put_u8(struct buf *out, uint8_t v)
{
	put(out, v, 1);
}

void p9_put_u16(struct buf *out, uint16_t v)
{
	put(out, v, 2);
}

void p9_put_u32(struct buf *out, uint32_t v)
{
	put(out, v, 4);
}

void p9_put_u64(struct buf *out, uint64_t v)
{
	put(out, v, 8);
}

void p9_put_str(struct buf *out, const char *text)
{
	size_t len = MIN(strlen(text), (size_t)UINT16_MAX);

	p9_put_u16(out, (uint16_t)len);
	buf_add(out, text, len);
}
