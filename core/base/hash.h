/* hash - uthash with xxHash, and with allocation that does not fail. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Include this, not <uthash.h>. Its own hash is slower, and clang finds fall-throughs in it. */
#include <xxhash.h>

#include "core/base/util.h"

#define HASH_FUNCTION(key, len, out) ((out) = (unsigned)XXH3_64bits(key, len))
/* uthash itself would call exit(). */
#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>
