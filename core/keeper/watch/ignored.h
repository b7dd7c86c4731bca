/* ignored - which external changes are not edits: patterns for the ends of paths. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * One pattern a line; empty lines and lines that begin with '#' are skipped. "a/b*" is matched
 * against the last two names of a path, "a/b/" followed by two asterisks against everything below.
 * Life: ignored_new() -> ignored_free().
 */
struct ignored;

/* Returns 0, or -EINVAL: *err names the line, as "line 3: why". */
int ignored_new(struct ignored **ret, const char *text, struct err *err) MUST_USE;
void ignored_free(struct ignored *i);
bool ignored_has(const struct ignored *i, const char *path); /* NULL: false */
