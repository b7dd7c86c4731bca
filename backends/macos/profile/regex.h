/* regex - regular expressions of profiles, made of paths, names and patterns of rules. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Appends text, quoted so that it matches only itself. */
void regex_quote(struct buf *out, const char *text, size_t len);
/*
 * Appends an expression for all spellings of a name that APFS and HFS+ treat as equal: either
 * case, the Kelvin sign for a k, the long s, other normal forms of non-ASCII characters. It may
 * match more.
 */
void regex_name(struct buf *out, const char *name, size_t len);
/* Follows a name: matches dots, blanks and streams that other file systems drop. */
extern const char regex_tail[];

/*
 * Appends "^...$" for an absolute pattern of a rule (pattern.h). REGEX_EXACT: matches the same
 * paths as the pattern. Returns false and appends nothing if there
 *              is no such expression (a set of non-ASCII characters).
 * REGEX_WIDE:  matches at least these, in every spelling. Returns true for each valid pattern.
 */
enum regex_width {
	REGEX_EXACT,
	REGEX_WIDE,
};
bool regex_pattern(struct buf *out, const char *pattern, enum regex_width width) MUST_USE;
