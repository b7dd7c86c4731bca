/* git_index - what a git index says, apart from what git refreshes in it whenever somebody looks.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/journal/fs/object.h"

/*
 * gitformat-index(5): a header, the entries, extensions, a hash of all that. Of an entry count its
 * mode, object, stage, flags and path; not the forty bytes of stat data that its mode lies in. Of
 * the extensions count those that say something that is not derived: the cached trees, what is
 * untracked, the file system monitor's bitmap and the offsets are git's own to renew.
 *
 * The bytes may be the agent's: every read is bounded, and the file is read into memory of ours.
 */
enum {
	HEADER = 12,
	MODE_AT = 24, /* in the stat data */
	STAT = 40,
	SHA1 = 20,
	SHA256 = 32,
	NAME_MASK = 0x0fff,
	EXTENDED = 0x4000,
	NAME_MAX_LEN = 4096,
};
#define INDEX_MAX ((size_t)16 << 20)

struct reader {
	const unsigned char *start, *p, *end; /* end: of what is before the last hash */
	size_t oid;
	uint32_t version;
	char name[NAME_MAX_LEN]; /* of the last entry */
	size_t name_len;
	XXH3_state_t *sum;
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

/* How many bytes of the last name go: version 4 writes what is new alone. */
static bool read_cut(struct reader *r, size_t *ret)
{
	size_t v = 0;

	for (size_t i = 0; i < 3 && left(r); i++) {
		unsigned char c = *r->p++;

		v = i ? (v + 1) << 7 | (c & 0x7fu) : c & 0x7fu;
		if (!(c & 0x80u)) {
			*ret = v;
			return v <= r->name_len;
		}
	}
	return false;
}

static bool read_name(struct reader *r, const unsigned char *entry)
{
	const unsigned char *nul;
	size_t cut = r->name_len, n;

	if (r->version == 4 && !read_cut(r, &cut))
		return false;
	nul = memchr(r->p, '\0', left(r));
	if (!nul)
		return false;
	n = (size_t)(nul - r->p);
	r->name_len -= cut;
	if (r->name_len + n >= sizeof(r->name))
		return false;
	memcpy(r->name + r->name_len, r->p, n);
	r->name_len += n;
	r->p = nul + 1;
	if (r->version == 4)
		return true;
	n = ((size_t)(nul - entry) + 8) & ~(size_t)7; /* one to eight NULs */
	if ((size_t)(r->end - entry) < n)
		return false;
	r->p = entry + n;
	return true;
}

static bool read_entry(struct reader *r)
{
	const unsigned char *entry = r->p, *flags = entry + STAT + r->oid;
	unsigned char more[2] = {0, 0};
	uint16_t own;

	if (left(r) < STAT + r->oid + 2)
		return false;
	own = (uint16_t)(flags[0] << 8 | flags[1]);
	r->p = flags + 2;
	if (own & EXTENDED) {
		if (left(r) < 2)
			return false;
		memcpy(more, r->p, 2);
		r->p += 2;
	}
	if (!read_name(r, entry))
		return false;
	own &= (uint16_t) ~(NAME_MASK | EXTENDED); /* what is left: stage, assumed unchanged */
	XXH3_64bits_update(r->sum, entry + MODE_AT, 4);
	XXH3_64bits_update(r->sum, entry + STAT, r->oid);
	XXH3_64bits_update(r->sum, &own, sizeof(own));
	XXH3_64bits_update(r->sum, more, sizeof(more));
	XXH3_64bits_update(r->sum, r->name, r->name_len);
	XXH3_64bits_update(r->sum, "", 1);
	return true;
}

static bool is_derived(const unsigned char *head)
{
	static const char names[][5] = {"TREE", "UNTR", "FSMN", "EOIE", "IEOT"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (memcmp(head, names[i], 4) == 0)
			return true;
	return false;
}

static bool read_extension(struct reader *r)
{
	const unsigned char *head = r->p;
	size_t size;

	if (left(r) < 8)
		return false;
	size = be32(head + 4);
	r->p += 8;
	if (size > left(r))
		return false;
	r->p += size;
	if (!is_derived(head))
		XXH3_64bits_update(r->sum, head, 8 + size);
	return true;
}

/* 0: it is no index with hashes of that length. */
static uint64_t sum_of(struct reader *r, const unsigned char *bytes, size_t size, size_t oid)
{
	uint32_t n;

	if (size < HEADER + oid)
		return 0;
	r->start = bytes;
	r->p = bytes + HEADER;
	r->end = bytes + size - oid;
	r->oid = oid;
	r->name_len = 0;
	r->version = be32(bytes + 4);
	if (r->version < 2 || r->version > 4 || XXH3_64bits_reset(r->sum) != XXH_OK)
		return 0;
	for (n = be32(bytes + 8); n; n--)
		if (!read_entry(r))
			return 0;
	XXH3_64bits_update(r->sum, "\n", 1);
	while (left(r))
		if (!read_extension(r))
			return 0;
	return XXH3_64bits_digest(r->sum) | 1;
}

uint64_t data_index_hash(int fd, size_t size)
{
	AUTO_BUF struct buf bytes = BUF_INIT;
	struct reader r = {0};
	char magic[4];
	uint64_t sum;

	if (size > INDEX_MAX || io_pread_full(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, "DIRC", sizeof(magic)) != 0)
		return 0;
	buf_reserve(&bytes, size);
	if (io_pread_full(fd, bytes.data, size, 0) != (ssize_t)size)
		return 0;
	r.sum = XXH3_createState();
	if (!r.sum)
		abort();
	sum = sum_of(&r, (const unsigned char *)bytes.data, size, SHA1);
	if (!sum)
		sum = sum_of(&r, (const unsigned char *)bytes.data, size, SHA256);
	XXH3_freeState(r.sum);
	return sum;
}
