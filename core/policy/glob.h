/* glob - one component of a path against one component of a pattern. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * `*` is any characters, `?` is one character, `[a-z]` and `[!a-z]` one of a set; `\` takes the
 * meaning from the character behind it. Characters are those of UTF-8; a byte that is no part of
 * one is a character of its own. Nothing here crosses a `/`: callers split.
 */
enum glob_form {
	GLOB_BAD,     /* an open `[`, a set that holds nothing, a `\` at the end, `**` */
	GLOB_LITERAL, /* no wildcards */
	GLOB_ANY,     /* an asterisk alone */
	GLOB_MIXED,
};

/* What stands at both ends of a component, so that most names need no matching. */
struct glob_shape {
	enum glob_form form;
	uint32_t literals;		/* characters that stand for themselves, in bytes */
	uint32_t prefix_len;		/* of `text`: before the first wildcard */
	uint32_t suffix_at, suffix_len; /* of `text`: behind the last wildcard */
	const char *bad;		/* GLOB_BAD: what is wrong with it */
};

/* Has this character a meaning of its own? */
static inline bool glob_is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == ']' || c == '\\';
}

/* Look at a component; text gets (appended) its literal characters without the `\`. */
struct glob_shape glob_look(const char *pattern, size_t len, struct buf *text);
/* pattern must have been found good. Time: pattern x name at worst. */
bool glob_match(const char *pattern, size_t len, const char *name, size_t name_len);
/* Append name so that it matches itself alone. */
void glob_quote(struct buf *out, const char *name);
