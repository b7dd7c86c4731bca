/* shrink - the shortest part of a sequence that still fails. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/model/model.h"

#define TRIES_MAX 1500

static bool try_without(const struct setting *set, struct sequence *s, uint64_t seed, size_t at,
			size_t n)
{
	struct sequence *part = xmalloc(sizeof(*part));
	bool fails;

	memcpy(part->acts, s->acts, at * sizeof(*s->acts));
	memcpy(part->acts + at, s->acts + at + n, (s->n - at - n) * sizeof(*s->acts));
	part->n = s->n - n;
	fails = play(set, part, seed, true) != 0;
	if (fails)
		*s = *part;
	free(part);
	return fails;
}

void shrink(const struct setting *set, struct sequence *s, uint64_t seed)
{
	int tries = 0;

	for (size_t size = s->n / 2; size > 0;) {
		bool smaller = false;

		for (size_t at = 0; at + size <= s->n && tries < TRIES_MAX; tries++) {
			if (try_without(set, s, seed, at, size))
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
