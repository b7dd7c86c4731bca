/* hash - uthash with xxHash, and with allocation that does not fail. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Include this instead of <uthash.h>: its hash function is slower and makes clang warn. */
#include <xxhash.h>

#include "core/base/util.h"

#define HASH_FUNCTION(key, len, out) ((out) = (unsigned)XXH3_64bits(key, len))
/* the one of uthash would call exit() */
#define uthash_malloc(size) xmalloc(size)
#include <uthash.h>
