/* wire - frames between cordon and its keeper: length, type, fields; bounds-checked both ways. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/wire.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/os/endian.h"

#define HEAD 4u /* the length field itself */

size_t wire_begin(struct buf *out, enum wire_type type)
{
	size_t mark = out->len;
	uint16_t t = htole16((uint16_t)type);

	buf_reserve(out, 64);
	buf_add(out, "\0\0\0\0", HEAD);
	buf_add(out, &t, sizeof(t));
	return mark;
}

void wire_u8(struct buf *out, uint8_t v)
{
	buf_add(out, &v, sizeof(v));
}

void wire_u32(struct buf *out, uint32_t v)
{
	v = htole32(v);
	buf_add(out, &v, sizeof(v));
}

void wire_u64(struct buf *out, uint64_t v)
{
	v = htole64(v);
	buf_add(out, &v, sizeof(v));
}

void wire_i64(struct buf *out, int64_t v)
{
	wire_u64(out, (uint64_t)v);
}

void wire_str(struct buf *out, const char *s, size_t len)
{
	if (len > WIRE_STR_MAX)
		len = WIRE_STR_MAX;
	wire_u32(out, (uint32_t)len);
	buf_add(out, s, len);
}

void wire_cstr(struct buf *out, const char *s)
{
	wire_str(out, s ? s : "", s ? strlen(s) : 0);
}

void wire_end(struct buf *out, size_t mark)
{
	size_t len = out->len - mark - HEAD;
	uint32_t v = htole32((uint32_t)len);

	assert(len <= WIRE_MAX);
	memcpy(out->data + mark, &v, sizeof(v));
}

int wire_next(const struct buf *b, struct wire_in *in, size_t *used)
{
	uint32_t len;
	uint16_t type;

	if (b->len < HEAD)
		return 0;
	memcpy(&len, b->data, sizeof(len));
	len = le32toh(len);
	if (len < sizeof(type) || len > WIRE_MAX)
		return -EBADMSG;
	if (b->len - HEAD < len)
		return 0;
	memcpy(&type, b->data + HEAD, sizeof(type));
	in->type = (enum wire_type)le16toh(type);
	in->p = b->data + HEAD + sizeof(type);
	in->end = b->data + HEAD + len;
	in->bad = false;
	*used = HEAD + len;
	return 1;
}

static void take(struct wire_in *in, void *to, size_t len)
{
	if (in->bad || (size_t)(in->end - in->p) < len) {
		in->bad = true;
		in->p = in->end;
		memset(to, 0, len);
		return;
	}
	memcpy(to, in->p, len);
	in->p += len;
}

uint8_t wire_get_u8(struct wire_in *in)
{
	uint8_t v;

	take(in, &v, sizeof(v));
	return v;
}

uint32_t wire_get_u32(struct wire_in *in)
{
	uint32_t v;

	take(in, &v, sizeof(v));
	return le32toh(v);
}

uint64_t wire_get_u64(struct wire_in *in)
{
	uint64_t v;

	take(in, &v, sizeof(v));
	return le64toh(v);
}

int64_t wire_get_i64(struct wire_in *in)
{
	return (int64_t)wire_get_u64(in);
}

struct span wire_get_str(struct wire_in *in)
{
	uint32_t len = wire_get_u32(in);
	struct span s = {.data = "", .len = 0};

	if (in->bad || (size_t)(in->end - in->p) < len) {
		in->bad = true;
		in->p = in->end;
		return s;
	}
	s.data = in->p;
	s.len = len;
	in->p += len;
	return s;
}

char *wire_get_cstr(struct wire_in *in)
{
	struct span s = wire_get_str(in);

	return xstrndup(s.data, s.len);
}
