/* glob - matches one component of a path with one component of a pattern. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * `*` is any characters, `?` is one character, `[a-z]` and `[!a-z]` one of a set; `\` makes the
 * next character literal. Characters are UTF-8; a byte outside any character counts as one of its
 * own. No wildcard matches a `/`: callers split paths.
 */
enum glob_form {
	GLOB_BAD,     /* an open `[`, a set that holds nothing, a `\` at the end, `**` */
	GLOB_LITERAL, /* no wildcards */
	GLOB_ANY,     /* an asterisk alone */
	GLOB_MIXED,
};

/* The literal ends of a component, so that most names need no matching. */
struct glob_shape {
	enum glob_form form;
	uint32_t literals;		/* bytes of literal characters */
	uint32_t prefix_len;		/* length before the first wildcard, in `text` */
	uint32_t suffix_at, suffix_len; /* after the last wildcard, in `text` */
	const char *bad;		/* GLOB_BAD: the error */
};

/* Returns whether the character is special in patterns. */
static inline bool glob_is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == ']' || c == '\\';
}

/* Parses a component; appends its literal characters, without the `\`, to text. */
struct glob_shape glob_look(const char *pattern, size_t len, struct buf *text);
/* Returns whether the name matches. pattern must be valid. Time: pattern x name at worst. */
bool glob_match(const char *pattern, size_t len, const char *name, size_t name_len);
/* Appends name as a pattern that matches only the name. */
void glob_quote(struct buf *out, const char *name);
