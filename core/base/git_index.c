/* git_index - reads the entries and extensions of a git index (gitformat-index(5)). */
/* SPDX-License-Identifier: MIT */
#include "core/base/git_index.h"

#include <string.h>

#define STAT_BYTES 40u
#define MODE_AT	   24u /* offset in the stat data */

uint32_t git_index_number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

size_t git_index_left(const struct git_index *x)
{
	return (size_t)(x->end - x->p);
}

bool git_index_open(struct git_index *x, const void *data, size_t len, size_t hash)
{
	*x = (struct git_index){.start = data, .hash = hash};
	if (len < GIT_INDEX_HEADER + hash || memcmp(data, "DIRC", 4) != 0)
		return false;
	x->end = x->start + len - hash;
	x->version = git_index_number(x->start + 4);
	x->entries = git_index_number(x->start + 8);
	x->p = x->start + GIT_INDEX_HEADER;
	return x->version >= 2 && x->version <= 4;
}

/* Reads a number in the encoding of pack files: the bytes to remove from the last name. */
static bool read_varint(struct git_index *x, size_t *ret)
{
	size_t v;
	unsigned char c;

	if (!git_index_left(x))
		return false;
	c = *x->p++;
	v = c & 0x7fu;
	while (c & 0x80u) {
		if (!git_index_left(x) || v > GIT_INDEX_PATH)
			return false;
		c = *x->p++;
		v = ((v + 1) << 7) | (c & 0x7fu);
	}
	*ret = v;
	return true;
}

/* Reads the name as git does: `flagged` bytes, or up to its NUL if that number is too small. */
static bool read_name(struct git_index *x, const unsigned char *entry, size_t flagged)
{
	size_t kept = 0, gone = 0, n;
	const unsigned char *nul;

	if (x->version == 4) {
		if (!read_varint(x, &gone) || gone > x->name_len)
			return false;
		kept = x->name_len - gone;
	}
	nul = memchr(x->p, '\0', git_index_left(x));
	n = nul ? (size_t)(nul - x->p) : 0;
	if (!nul || kept + n > GIT_INDEX_PATH ||
	    (flagged < GIT_INDEX_NAME ? kept + n != flagged : kept + n < GIT_INDEX_NAME))
		return false;
	memcpy(x->name + kept, x->p, n);
	x->name_len = kept + n;
	x->kept = kept;
	x->name[x->name_len] = '\0';
	x->p = nul + 1;
	if (x->version == 4)
		return true;
	n = ((size_t)(nul - entry) + 8) & ~(size_t)7; /* followed by one to eight NULs */
	if ((size_t)(x->end - entry) < n)
		return false;
	x->p = entry + n;
	return true;
}

bool git_index_entry(struct git_index *x, struct git_index_entry *ret)
{
	const unsigned char *entry = x->p, *flags;

	if (git_index_left(x) < STAT_BYTES + x->hash + 2)
		return false;
	flags = entry + STAT_BYTES + x->hash;
	*ret = (struct git_index_entry){.mode = git_index_number(entry + MODE_AT),
					.flags = (uint16_t)(flags[0] << 8 | flags[1]),
					.mode_bytes = entry + MODE_AT,
					.object_bytes = entry + STAT_BYTES};
	x->p = flags + 2;
	if (ret->flags & GIT_INDEX_EXTENDED) {
		if (x->version < 3 || git_index_left(x) < 2)
			return false;
		ret->more = (uint16_t)(x->p[0] << 8 | x->p[1]);
		x->p += 2;
	}
	return read_name(x, entry, ret->flags & GIT_INDEX_NAME);
}

bool git_index_extension(struct git_index *x, struct git_index_extension *ret)
{
	if (git_index_left(x) < 8)
		return false;
	*ret = (struct git_index_extension){
		.head = x->p, .body = x->p + 8, .size = git_index_number(x->p + 4)};
	x->p += 8;
	if (ret->size > git_index_left(x))
		return false;
	x->p += ret->size;
	return true;
}
