/* base64 - encodes and decodes base64 (RFC 4648). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/util.h"

/* Appends the text. */
void base64_encode(struct buf *out, const char *bytes, size_t len);
/* Decodes only whole padded groups. Returns heap with *ret_len bytes and a NUL; NULL: the text is
 * not base64. */
char *base64_decode(const char *text, size_t *ret_len) MUST_USE;
