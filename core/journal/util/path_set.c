/* path_set - a compact set of paths, numbered in the order of insertion. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/util/grow.h"
#include "core/journal/util/path_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CHUNK_FIRST ((size_t)1 << 10)
#define CHUNK	    ((size_t)1 << 16) /* struct name.at has 16 bits for an offset in a chunk */

struct name {
	uint32_t hash;
	uint32_t at; /* number of the chunk, offset in it */
};

char *path_key_make(int root, const char *path)
{
	size_t len = strlen(path);
	char *key;

	if (root) /* rare */
		return xasprintf("%d/%s", root, path);
	key = xmalloc(len + 3);
	key[0] = '0';
	key[1] = '/';
	memcpy(key + 2, path, len + 1);
	return key;
}

int path_key_root(const char *key, const char **path)
{
	*path = strchr(key, '/') + 1;
	return atoi(key);
}

const char *path_set_key(const struct path_set *n, size_t i)
{
	uint32_t at = n->list[i].at;

	return n->chunks[at >> 16] + (at & (CHUNK - 1));
}

/* Returns the slot of the key, or the free slot that it would take. */
static size_t slot_of(const struct path_set *n, const char *key, uint32_t hash)
{
	size_t mask = n->n_slots - 1, s = hash & mask;

	for (; n->slots[s]; s = (s + 1) & mask) {
		size_t i = n->slots[s] - 1;

		if (n->list[i].hash == hash && str_eq(path_set_key(n, i), key))
			break;
	}
	return s;
}

static void grow_slots(struct path_set *n)
{
	size_t mask;

	n->n_slots = n->n_slots ? n->n_slots * 2 : 16;
	free(n->slots);
	n->slots = xcalloc(n->n_slots, sizeof(*n->slots));
	mask = n->n_slots - 1;
	for (uint32_t i = 0; i < n->n; i++) {
		size_t s = n->list[i].hash & mask;

		while (n->slots[s])
			s = (s + 1) & mask;
		n->slots[s] = i + 1;
	}
}

/* Stores a key and returns its place. Keys never move: a full chunk stays as it is. */
static uint32_t store(struct path_set *n, const char *key, size_t len)
{
	uint32_t at;

	if (n->used + len > n->size) {
		n->size = MAX(n->n_chunks ? CHUNK : CHUNK_FIRST, len);
		n->used = 0;
		n->chunks = xrealloc(n->chunks, (n->n_chunks + 1) * sizeof(*n->chunks));
		n->chunks[n->n_chunks++] = xmalloc(n->size);
		assert(n->n_chunks <= CHUNK);
	}
	at = (uint32_t)((n->n_chunks - 1) << 16 | n->used);
	memcpy(n->chunks[n->n_chunks - 1] + n->used, key, len);
	n->used += len;
	return at;
}

size_t path_set_put(struct path_set *n, const char *key, bool *ret_new)
{
	size_t len = strlen(key), s;
	uint32_t hash = (uint32_t)XXH3_64bits(key, len);

	if ((n->n + 1) * (size_t)4 > n->n_slots * 3)
		grow_slots(n);
	s = slot_of(n, key, hash);
	*ret_new = !n->slots[s];
	if (n->slots[s])
		return n->slots[s] - 1;
	GROW(n->list, n->cap, n->n);
	n->list[n->n] = (struct name){.hash = hash, .at = store(n, key, len + 1)};
	n->slots[s] = ++n->n;
	return n->n - 1;
}

size_t path_set_find(const struct path_set *n, const char *key)
{
	size_t s;

	if (!n->n)
		return PATH_SET_NONE;
	s = slot_of(n, key, (uint32_t)XXH3_64bits(key, strlen(key)));
	return n->slots[s] ? n->slots[s] - 1 : PATH_SET_NONE;
}

bool path_set_has_key(const struct path_set *n, const char *key)
{
	return path_set_find(n, key) != PATH_SET_NONE;
}

bool path_set_has(const struct path_set *n, int root, const char *path)
{
	AUTO_FREE char *key = NULL;

	if (!n->n)
		return false;
	key = path_key_make(root, path);
	return path_set_has_key(n, key);
}

bool path_set_add_key(struct path_set *n, const char *key)
{
	bool fresh;

	path_set_put(n, key, &fresh);
	return fresh;
}

bool path_set_add(struct path_set *n, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);

	return path_set_add_key(n, key);
}

void path_set_done(struct path_set *n)
{
	for (size_t i = 0; i < n->n_chunks; i++)
		free(n->chunks[i]);
	free(n->chunks);
	free(n->list);
	free(n->slots);
	*n = (struct path_set){0};
}
