/* arena - many small strings that are freed together. */
/* SPDX-License-Identifier: MIT */
#include "core/base/arena.h"

#include <string.h>

#define CHUNK ((size_t)16 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	char data[];
};

const char *arena_str(struct arena *a, const char *s)
{
	size_t len = s ? strlen(s) + 1 : 0;
	struct arena_chunk *c = a->chunks;

	if (!s)
		return NULL;
	if (!c || c->size - c->used < len) {
		size_t size = MAX(len, CHUNK);

		c = xmalloc(sizeof(*c) + size);
		*c = (struct arena_chunk){.next = a->chunks, .size = size};
		a->chunks = c;
	}
	memcpy(c->data + c->used, s, len);
	c->used += len;
	return c->data + c->used - len;
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
