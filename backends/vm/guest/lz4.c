/* lz4 - unpacks LZ4 in the legacy frame, as Linux kernels are packed. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/lz4.h"

#include <errno.h>
#include <string.h>

/*
 * A frame is a magic number and blocks. A block is its packed size and sequences. A sequence is a
 * token (two lengths of four bits; 15 continues in further bytes), literal bytes, and a distance
 * and length to copy from earlier output. A block's last sequence ends after its literal bytes.
 */
#define MAGIC	  4
#define BLOCK_MAX ((size_t)8 << 20)
#define MATCH_MIN 4

static size_t le32(const unsigned char *p)
{
	return p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

/* Reads the further bytes of a length. Returns false if the input ends. */
static bool more(const unsigned char **p, const unsigned char *end, size_t *len)
{
	unsigned char c;

	if (*len != 15)
		return true;
	do {
		if (*p == end)
			return false;
		c = *(*p)++;
		*len += c;
	} while (c == 255 && *len < BLOCK_MAX);
	return true;
}

static void copy_back(struct buf *out, size_t distance, size_t len)
{
	char *to;

	buf_reserve(out, len);
	to = out->data + out->len;
	for (size_t i = 0; i < len; i++) /* may overlap: a run */
		to[i] = to[(ptrdiff_t)i - (ptrdiff_t)distance];
	out->len += len;
	out->data[out->len] = '\0';
}

static int unpack_block(const unsigned char *p, size_t packed, size_t max, struct buf *out)
{
	const unsigned char *end = p + packed;
	size_t start = out->len;

	while (p < end) {
		unsigned char token = *p++;
		size_t literals = token >> 4, match = token & 15, distance;

		if (!more(&p, end, &literals) || literals > (size_t)(end - p))
			return -EINVAL;
		if (literals > max - out->len)
			return -EFBIG;
		buf_add(out, p, literals);
		p += literals;
		if (p == end)
			return 0;
		if (end - p < 2)
			return -EINVAL;
		distance = p[0] | (size_t)p[1] << 8;
		p += 2;
		if (!more(&p, end, &match) || !distance || distance > out->len - start)
			return -EINVAL;
		match += MATCH_MIN;
		if (match > max - out->len)
			return -EFBIG;
		copy_back(out, distance, match);
	}
	return -EINVAL;
}

int lz4_unpack(const void *data, size_t len, size_t max, struct buf *out)
{
	const unsigned char *p = data;
	size_t at = MAGIC;

	if (len < MAGIC + 4)
		return -EINVAL;
	while (len - at > 4) {
		size_t packed = le32(p + at);
		int r;

		if (packed == 0 || packed > len - at - 4)
			return at == MAGIC ? -EINVAL : 0;
		r = unpack_block(p + at + 4, packed, max, out);
		if (r < 0)
			return r;
		at += 4 + packed;
	}
	return 0;
}
