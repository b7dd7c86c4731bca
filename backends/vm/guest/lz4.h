/* lz4 - unpacks LZ4 in the legacy frame, as Linux kernels are packed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Appends to out, at most max bytes. Returns 0, -EINVAL if the data is damaged, or -EFBIG. Ignores
 * bytes after the last whole block, such as the size behind a kernel's payload. */
int lz4_unpack(const void *data, size_t len, size_t max, struct buf *out) MUST_USE;
