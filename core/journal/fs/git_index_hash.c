/* git_index_hash - hashes a git index without the fields that git refreshes on a read. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/buf.h"
#include "core/base/git_index.h"
#include "core/base/io.h"
#include "core/journal/fs/object.h"

/*
 * An entry counts with mode, object, stage, flags and path, not with its other stat data.
 * Extensions with derived data do not count: git renews the cached trees, the untracked cache, the
 * file system monitor's bitmap and the offsets by itself.
 *
 * The bytes may be the agent's: the file is read into this process's own memory.
 */
enum {
	SHA1 = 20,
	SHA256 = 32
};
#define INDEX_MAX ((size_t)16 << 20)

static bool add_entry(struct git_index *x, XXH3_state_t *sum)
{
	struct git_index_entry e;
	unsigned char more[2];
	uint16_t own;

	if (!git_index_entry(x, &e))
		return false;
	/* The rest of the flags: stage, assumed unchanged. */
	own = e.flags & (uint16_t) ~(GIT_INDEX_NAME | GIT_INDEX_EXTENDED);
	more[0] = (unsigned char)(e.more >> 8);
	more[1] = (unsigned char)e.more;
	XXH3_64bits_update(sum, e.mode_bytes, 4);
	XXH3_64bits_update(sum, e.object_bytes, x->hash);
	XXH3_64bits_update(sum, &own, sizeof(own));
	XXH3_64bits_update(sum, more, sizeof(more));
	XXH3_64bits_update(sum, x->name, x->name_len + 1); /* and its NUL */
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

static bool add_extension(struct git_index *x, XXH3_state_t *sum)
{
	struct git_index_extension e;

	if (!git_index_extension(x, &e))
		return false;
	if (!is_derived(e.head))
		XXH3_64bits_update(sum, e.head, 8 + (size_t)e.size);
	return true;
}

/* Returns the hash, or 0 if this is no index with object names of that length. */
static uint64_t sum_of(XXH3_state_t *sum, const char *bytes, size_t size, size_t hash)
{
	struct git_index x;

	if (!git_index_open(&x, bytes, size, hash) || XXH3_64bits_reset(sum) != XXH_OK)
		return 0;
	for (uint32_t n = x.entries; n; n--)
		if (!add_entry(&x, sum))
			return 0;
	XXH3_64bits_update(sum, "\n", 1);
	while (git_index_left(&x))
		if (!add_extension(&x, sum))
			return 0;
	return XXH3_64bits_digest(sum) | 1;
}

uint64_t git_index_hash(int fd, size_t size)
{
	AUTO_BUF struct buf bytes = BUF_INIT;
	XXH3_state_t *sum;
	char magic[4];
	uint64_t hash;

	if (size > INDEX_MAX || io_pread_full(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, "DIRC", sizeof(magic)) != 0)
		return 0;
	buf_reserve(&bytes, size);
	if (io_pread_full(fd, bytes.data, size, 0) != (ssize_t)size)
		return 0;
	sum = XXH3_createState();
	if (!sum)
		abort();
	hash = sum_of(sum, bytes.data, size, SHA1);
	if (!hash)
		hash = sum_of(sum, bytes.data, size, SHA256);
	XXH3_freeState(sum);
	return hash;
}
