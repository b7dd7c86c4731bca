/* regex - regular expressions of profiles, made of paths, names and patterns of rules. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Appends text so that it matches itself alone. */
void regex_quote(struct buf *out, const char *text, size_t len);
/*
 * Appends one name in every spelling that APFS and HFS+ take for it: either case, the Kelvin sign
 * for a k, the long s, another normal form of what is not ASCII. It may match more than that.
 */
void regex_name(struct buf *out, const char *name, size_t len);
/* Behind a name: the dots, blanks and streams that other file systems drop. */
extern const char regex_tail[];

/*
 * Appends "^...$" for an absolute pattern of a rule (pattern.h).
 * REGEX_EXACT: nothing else than what it matches. False: that cannot be said (a set of characters
 *              that are not ASCII); nothing was appended.
 * REGEX_WIDE:  at least that, in every spelling. Always true for a good pattern.
 */
enum regex_width {
	REGEX_EXACT,
	REGEX_WIDE,
};
bool regex_pattern(struct buf *out, const char *pattern, enum regex_width width) MUST_USE;
