/* unpack - bytes that may be packed as kernels and modules are: gzip, xz, zstd, lz4, or not. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

#define UNPACK_MAX ((size_t)512 << 20)

/*
 * Append what [data, data+len) holds, unpacked by its first bytes; as it is when they are unknown.
 * xz is a program of the host's. What follows the packed stream is ignored.
 */
int unpack(const void *data, size_t len, struct buf *out, struct err *err) MUST_USE;
