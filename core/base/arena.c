/* arena - many small strings that are freed together. */
/* SPDX-License-Identifier: MIT */
#include "core/base/arena.h"

#include <string.h>

#define CHUNK	  ((size_t)16 << 10)
#define CHUNK_MAX ((size_t)1 << 20)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	char data[];
};

/* Adds a chunk twice as large as the last one: few chunks for many strings, little memory for
 * few. */
static struct arena_chunk *add_chunk(struct arena *a, size_t len)
{
	size_t size = a->chunks ? MIN(a->chunks->size * 2, CHUNK_MAX) : CHUNK;
	struct arena_chunk *c = xmalloc(sizeof(*c) + MAX(size, len));

	c->next = a->chunks;
	c->used = 0;
	c->size = MAX(size, len);
	a->chunks = c;
	return c;
}

const char *arena_strn(struct arena *a, const char *s, size_t len)
{
	struct arena_chunk *c = a->chunks;
	char *to;

	if (!c || c->size - c->used <= len)
		c = add_chunk(a, len + 1);
	to = c->data + c->used;
	memcpy(to, s, len);
	to[len] = '\0';
	c->used += len + 1;
	return to;
}

const char *arena_str(struct arena *a, const char *s)
{
	return s ? arena_strn(a, s, strlen(s)) : NULL;
}

const char *arena_again(struct arena *a, const char *s, const char *before)
{
	return s && before && strcmp(s, before) == 0 ? before : arena_str(a, s);
}

void arena_done(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
}
