/* schema - is a JSON value as the shipped schemas say? */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/fault.h"

/*
 * The part of JSON Schema (2020-12) that core/api's own schemas use: type, enum, const, properties,
 * required, additionalProperties, items, minItems, maxItems, minimum, maximum, minLength,
 * maxLength, and $ref within the document. Other words are not looked at. What it recurses on is
 * the schema, never the value.
 * Threads: main; the documents are parsed once and kept.
 */
struct cJSON;

/* A part of a document by the names on the way: "operations/fs.read/payload". NULL: there is none.
 */
const struct cJSON *schema_find(const char *document, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* -1: f says what is wrong, data.path where (a JSON pointer). */
int schema_check(const char *document, const struct cJSON *schema, const struct cJSON *value,
		 struct fault *f) MUST_USE;
/* The value of `default` of a property, or NULL. */
const struct cJSON *schema_default(const struct cJSON *schema, const char *property);
