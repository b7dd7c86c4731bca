/* arena - many small strings that are freed together. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Life: zero-initialised; arena_done() frees all strings. Strings never move. */
struct arena {
	struct arena_chunk *chunks;
};

/* A copy; NULL gives NULL. */
const char *arena_str(struct arena *a, const char *s);
/* The same of len bytes; a NUL behind them is added. */
const char *arena_strn(struct arena *a, const char *s, size_t len);
/* The same, but `before` (one of this arena's, or NULL) when it says the same. */
const char *arena_again(struct arena *a, const char *s, const char *before);
void arena_done(struct arena *a);
