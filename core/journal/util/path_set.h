/* path_set - a compact set of paths, numbered in the order of insertion. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

/*
 * A key is "<root>/path". No key is ever removed; a key and its number stay valid until
 * path_set_done(). A key takes its own bytes and about 13 more: steps of hundreds of thousands of
 * paths are kept in such sets.
 * Life: a zeroed struct is empty -> path_set_done(), which leaves it so.
 */
struct path_set {
	struct name *list;
	uint32_t n, cap;
	uint32_t *slots; /* open addressing; number + 1 */
	size_t n_slots;	 /* a power of two, or 0 */
	char **chunks;
	size_t n_chunks, used, size; /* of the last chunk */
};

#define PATH_SET_NONE SIZE_MAX

bool path_set_add(struct path_set *n, int root, const char *path); /* false: it was there already */
bool path_set_add_key(struct path_set *n, const char *key);
size_t path_set_put(struct path_set *n, const char *key, bool *ret_new); /* returns its number */
size_t path_set_find(const struct path_set *n, const char *key);	 /* or PATH_SET_NONE */
bool path_set_has(const struct path_set *n, int root, const char *path);
bool path_set_has_key(const struct path_set *n, const char *key);
static inline size_t path_set_count(const struct path_set *n)
{
	return n->n;
}
const char *path_set_key(const struct path_set *n, size_t i); /* i below path_set_count() */
void path_set_done(struct path_set *n);
#define AUTO_PATH_SET CLEANUP(path_set_done)

char *path_key_make(int root, const char *path) MUST_USE;
int path_key_root(const char *key, const char **path);
