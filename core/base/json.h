/* json - writing JSON text by hand where a line is hot; reading is cJSON's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct cJSON;

/*
 * Append s as a JSON string. Bytes that are not UTF-8 become U+DC80..U+DCFF escapes ("\udc80"),
 * as Python's surrogateescape does, so that every path name survives the round trip. What a
 * terminal would obey or not show is escaped: people look at these lines too.
 */
void json_quote(struct buf *out, const char *s, size_t len);
/* The text of a value, on one line; heap. Integers have all their digits, and no number an
 * exponent. */
char *json_print(const struct cJSON *v) MUST_USE;
