/* unpack - bytes that may be packed as kernels and modules are: gzip, xz, zstd, lz4, or not. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

#define UNPACK_MAX ((size_t)512 << 20)

/*
 * Appends [data, data+len) to out, unpacked. The first bytes tell the format; unknown data is
 * copied as it is. Needs the host's program xz for that format. Ignores bytes after the packed
 * stream.
 */
int unpack(const void *data, size_t len, struct buf *out, struct err *err) MUST_USE;
