/* content_hash - hashes that tell a changed file from one with new times only. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"

/* ---- some of it -------------------------------------------------------------------------------
 */

/* Parts that are hashed of a file larger than CONTENT_HASH_MAX, with the first and the last. */
enum {
	HASH_PARTS = 4,
	HASH_PART = CONTENT_HASH_MAX / HASH_PARTS,
};

static size_t part_at(size_t size, size_t i)
{
	return (size - HASH_PART) / (HASH_PARTS - 1) * i;
}

/* Reads a file of that size, or up to max bytes of a longer one. A first read that stops at size
 * has met the end: no second read looks for it. */
static ssize_t read_small(int fd, char *data, size_t max, size_t size)
{
	ssize_t n = pread(fd, data, max, 0);

	return n == (ssize_t)size ? n : io_pread_full(fd, data, max, 0);
}

uint64_t content_hash(int fd, size_t size)
{
	char data[CONTENT_HASH_MAX];
	ssize_t n;

	if (size <= sizeof(data)) {
		n = read_small(fd, data, sizeof(data), size);
		return n < 0 || (size_t)n != size ? 0 : XXH3_64bits(data, size) | 1;
	}
	for (size_t i = 0; i < HASH_PARTS; i++) {
		n = io_pread_full(fd, data + i * HASH_PART, HASH_PART, (off_t)part_at(size, i));
		if (n != HASH_PART)
			return 0;
	}
	return XXH3_64bits(data, sizeof(data)) | 1;
}

uint64_t content_hash_bytes(const char *bytes, size_t size)
{
	char data[CONTENT_HASH_MAX];

	if (size <= sizeof(data))
		return XXH3_64bits(bytes, size) | 1;
	for (size_t i = 0; i < HASH_PARTS; i++)
		memcpy(data + i * HASH_PART, bytes + part_at(size, i), HASH_PART);
	return XXH3_64bits(data, sizeof(data)) | 1;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/*
 * Blocks of zeros are not hashed, so that a copy with other holes has the same hash. Other blocks
 * are hashed with their offset, and so is the size. The agent can make a file huge by holes: holes
 * are not read.
 */
#define BLOCK 4096u

static const char zeros[BLOCK];

struct whole {
	XXH3_state_t *state;
	uint64_t at; /* offset of the next bytes; a multiple of BLOCK, except at the end */
};

static struct whole whole_begin(void)
{
	struct whole w = {.state = XXH3_createState()};

	if (!w.state || XXH3_64bits_reset(w.state) != XXH_OK)
		abort();
	return w;
}

static void whole_add(struct whole *w, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += BLOCK) {
		size_t n = MIN(len - i, (size_t)BLOCK);
		uint64_t at = w->at + i;

		if (memcmp(bytes + i, zeros, n) == 0)
			continue;
		XXH3_64bits_update(w->state, &at, sizeof(at));
		XXH3_64bits_update(w->state, bytes + i, n);
	}
	w->at += len;
}

static uint64_t whole_end(struct whole *w, uint64_t size)
{
	uint64_t hash;

	XXH3_64bits_update(w->state, &size, sizeof(size));
	hash = XXH3_64bits_digest(w->state) | 1;
	XXH3_freeState(w->state);
	return hash;
}

/* Returns the offset of the next data, not a hole, and its end: both in whole BLOCKs. */
static off_t next_data(int fd, off_t at, off_t size, off_t *end)
{
	off_t data = lseek(fd, at, SEEK_DATA);

	*end = size;
	if (data < 0)
		return errno == ENXIO ? size : errno == EINVAL ? at : -errno;
	*end = lseek(fd, data, SEEK_HOLE);
	*end = *end < 0 ? size : MIN((*end + BLOCK - 1) / BLOCK * BLOCK, size);
	return data / BLOCK * BLOCK;
}

static int add_range(struct whole *w, int fd, off_t end)
{
	char bytes[16 * BLOCK];

	while ((off_t)w->at < end) {
		size_t want = MIN(sizeof(bytes), (size_t)(end - (off_t)w->at));
		ssize_t n = io_pread_full(fd, bytes, want, (off_t)w->at);

		if (n < 0)
			return (int)n;
		whole_add(w, bytes, (size_t)n);
		if ((size_t)n < want)
			return -ESTALE;
	}
	return 0;
}

uint64_t content_hash_whole(int fd, uint64_t size)
{
	struct whole w = whole_begin();
	uint64_t hash;
	int r = 0;

	while (r == 0 && w.at < size) {
		off_t end, data = next_data(fd, (off_t)w.at, (off_t)size, &end);

		if (data < 0)
			r = (int)data;
		else if (data >= (off_t)size)
			break;
		w.at = MAX(w.at, (uint64_t)data);
		if (r == 0)
			r = add_range(&w, fd, end);
	}
	hash = whole_end(&w, size);
	return r < 0 ? 0 : hash;
}

uint64_t content_hash_all(const char *bytes, size_t size)
{
	struct whole w = whole_begin();

	whole_add(&w, bytes, size);
	return whole_end(&w, size);
}
