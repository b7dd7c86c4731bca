/* arena - many small strings that are freed together. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Life: zero-initialised; arena_done() frees all strings. Strings never move. */
struct arena {
	struct arena_chunk *chunks;
};

/* Returns a copy; NULL for NULL. */
const char *arena_str(struct arena *a, const char *s);
/* Returns a copy of len bytes, with a NUL added. */
const char *arena_strn(struct arena *a, const char *s, size_t len);
/* Returns `before` (a string of this arena, or NULL) if it is equal, else a copy. */
const char *arena_again(struct arena *a, const char *s, const char *before);
void arena_done(struct arena *a);
