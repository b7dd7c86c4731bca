/* hash - uthash's tables as they are used here: with xxHash, and with memory that never runs out.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Include this, not <uthash.h>. Its own hash is slower, and clang finds fall-throughs in it. */
#include <xxhash.h>

#include "core/base/util.h"

#define HASH_FUNCTION(key, len, out) ((out) = (unsigned)XXH3_64bits(key, len))
/* Its own way is exit(). */
#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>
