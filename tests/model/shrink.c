/* shrink - finds a short part of a sequence that still fails. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/model/model.h"

#define TRIES_MAX 1500

static bool try_without(const struct setting *set, struct sequence *s, uint64_t seed, size_t at,
			size_t n, const char *failure)
{
	struct sequence *part = xmalloc(sizeof(*part));
	AUTO_FREE char *words = NULL;
	bool fails;

	memcpy(part->acts, s->acts, at * sizeof(*s->acts));
	memcpy(part->acts + at, s->acts + at + n, (s->n - at - n) * sizeof(*s->acts));
	part->n = s->n - n;
	words = play(set, part, seed, true);
	fails = words && str_eq(words, failure);
	if (fails)
		*s = *part;
	free(part);
	return fails;
}

void shrink(const struct setting *set, struct sequence *s, uint64_t seed, const char *failure)
{
	int tries = 0;

	for (size_t size = s->n / 2; size > 0;) {
		bool smaller = false;

		for (size_t at = 0; at + size <= s->n && tries < TRIES_MAX; tries++) {
			if (try_without(set, s, seed, at, size, failure))
				smaller = true;
			else
				at += size;
		}
		if (tries >= TRIES_MAX)
			return;
		if (!smaller || size > 1)
			size /= 2;
	}
}
