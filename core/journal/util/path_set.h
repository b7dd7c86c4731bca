/* path_set - a compact set of paths, numbered in the order of insertion. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

/*
 * A key is "<root>/path". Nothing is taken out; a key and its number stay valid, whatever is added,
 * until names_done(). About 13 bytes for each key, and the key itself: steps of hundreds of
 * thousands of paths are kept in such sets.
 * Life: a zeroed struct is empty -> names_done(), which leaves it so.
 */
struct names {
	struct name *list;
	uint32_t n, cap;
	uint32_t *slots; /* open addressing; number + 1 */
	size_t n_slots;	 /* a power of two, or 0 */
	char **chunks;
	size_t n_chunks, used, size; /* of the last chunk */
};

#define NAMES_NONE SIZE_MAX

bool names_add(struct names *n, int root, const char *path); /* false: it is there already */
bool names_add_key(struct names *n, const char *key);
size_t names_put(struct names *n, const char *key, bool *ret_new); /* its number */
size_t names_find(const struct names *n, const char *key);	   /* NAMES_NONE */
bool names_has(const struct names *n, int root, const char *path);
bool names_has_key(const struct names *n, const char *key);
static inline size_t names_count(const struct names *n)
{
	return n->n;
}
const char *names_key(const struct names *n, size_t i); /* i below names_count() */
void names_done(struct names *n);

char *key_make(int root, const char *path) MUST_USE;
int key_root(const char *key, const char **path);
