/* lz4 - unpacks LZ4 in the legacy frame, as Linux kernels are packed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Appends to out, at most max bytes. 0, -EINVAL: it is damaged, -EFBIG. What follows the last whole
 * block, as the size behind a kernel's payload, is ignored. */
int lz4_unpack(const void *data, size_t len, size_t max, struct buf *out) MUST_USE;
