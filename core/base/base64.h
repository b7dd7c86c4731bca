/* base64 - encodes and decodes base64 (RFC 4648). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/util.h"

/* Appends. */
void base64_encode(struct buf *out, const char *bytes, size_t len);
/* Decodes whole padded groups and nothing else. Heap, *ret_len bytes and a NUL; NULL: it is no
 * base64. */
char *base64_decode(const char *text, size_t *ret_len) MUST_USE;
