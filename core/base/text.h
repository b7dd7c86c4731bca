/* text - hostile text made visible, and the one width function of the whole program. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * Everything the agent can choose (path names, arguments, host names, diffs) passes through here
 * before a human sees it: C0 and C1 controls, DEL, bytes that are not UTF-8, bidi controls, zero
 * width and tag characters come out as \n, \x1b, \u{202e}. A backslash stays a backslash.
 */
void text_escape(struct buf *out, const char *s, size_t len);
/* The same into a fixed array, cut at a whole escape; always NUL-terminated. */
void text_escape_into(char *out, size_t size, const char *s, size_t len);

/* Columns of one code point: 0, 1 or 2; -1 for controls. Unicode tables of utf8proc. */
int text_cp_width(int32_t cp);
/* Code points that vanish or reorder what is around them: UAX #9 controls, zero width, tags; and
 * all that a terminal would obey. */
bool text_is_deceptive(int32_t cp);
/* Columns of escaped text. */
int text_width(const char *s);
/* Decode one code point at s (len > 0 bytes there); returns bytes used, *cp = -1 if malformed. */
size_t text_decode(const char *s, size_t len, int32_t *cp);
/* Append s cut to at most cols columns; the middle is replaced by "…" if too long. */
void text_fit_middle(struct buf *out, const char *s, int cols);
/* The same with the end cut. */
void text_fit_end(struct buf *out, const char *s, int cols);
/* Appends a word as a shell reads it back: as it stands, or in quotes. */
void text_shell_word(struct buf *out, const char *word);
/* "1.5 MiB", "312 B". */
void text_size(char *out, size_t size, uint64_t bytes);
