/* schema - checks JSON values against the shipped schemas. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/fault.h"

/*
 * The part of JSON Schema (2020-12) that core/api's own schemas use: type, enum, const, properties,
 * required, additionalProperties, items, minItems, maxItems, minimum, maximum, minLength,
 * maxLength, and $ref within the document. Other keywords are ignored. It recurses over the
 * schema, never over the value.
 * Threads: main; the documents are parsed once and kept.
 */
struct cJSON;

/* Returns a part of a document by its path: "$defs/operations/fs.read/payload". NULL: there is no
 * such part. */
const struct cJSON *schema_find(const char *document, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Checks a value. Returns 0, or -1: f has the error, and data.path its place (a JSON pointer). */
int schema_check(const char *document, const struct cJSON *schema, const struct cJSON *value,
		 struct fault *f) MUST_USE;
/* Checks the payload of an operation of cordon's protocol in the same way: data.path begins with
 * "/payload". */
int schema_check_payload(const char *operation, const struct cJSON *payload, struct fault *f)
	MUST_USE;
/* Returns the value of `default` of a property, or NULL. */
const struct cJSON *schema_default(const struct cJSON *schema, const char *property);
