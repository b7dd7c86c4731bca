/* json - writes JSON text fast, without cJSON; reads values that cJSON has parsed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct cJSON;

/*
 * Appends s as a JSON string. Bytes that are not UTF-8 become U+DC80..U+DCFF escapes ("\udc80"),
 * as Python's surrogateescape does, so that every path name survives the round trip. Characters
 * that a terminal would obey or hide are escaped, since people read these lines, too.
 */
void json_quote(struct buf *out, const char *s, size_t len);
/* Appends a member of an object, with a comma before it unless it is the first. s NULL: null. */
void json_member(struct buf *out, const char *name, const char *s);
/* Does the same for an array of at most n strings, up to a NULL. list may be NULL. */
void json_strings(struct buf *out, const char *name, const char *const *list, size_t n);
/* Returns a member of an object, or NULL. */
struct cJSON *json_get(const struct cJSON *o, const char *name);
/* Returns a member that is a string, or NULL. */
const char *json_text(const struct cJSON *o, const char *name);
/* Returns a member that is a string; `otherwise` if it is missing, "" if it is something else. */
const char *json_text_or(const struct cJSON *o, const char *name, const char *otherwise);
/* Returns the text of a value, on one line; heap. Integers have all digits; no number has an
 * exponent. */
char *json_print(const struct cJSON *v) MUST_USE;
