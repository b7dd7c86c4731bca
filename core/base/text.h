/* text - escapes hostile text, and measures the width of text. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * All text that the agent can choose (paths, arguments, host names, diffs) is escaped here before
 * the user sees it: C0 and C1 controls, DEL, bytes that are not UTF-8, bidi controls, zero
 * width and tag characters come out as \n, \x1b, \u{202e}. A backslash stays a backslash.
 */
void text_escape(struct buf *out, const char *s, size_t len);
/* Makes all later calls escape non-ASCII text: the terminal has no UTF-8. Call it before any thread
 * starts. */
void text_escape_to_ascii(void);
/* Escapes into a fixed array, cut at a whole escape; always NUL-terminated. */
void text_escape_into(char *out, size_t size, const char *s, size_t len);

/* Returns the columns of one code point, by utf8proc: 0, 1 or 2; -1 for controls. */
int text_cp_width(int32_t cp);
/* Returns whether a code point is invisible, reorders the text around it (UAX #9 controls, zero
 * width, tags), or is obeyed by a terminal. */
bool text_is_deceptive(int32_t cp);
/* Returns the columns of escaped text. */
int text_width(const char *s);
/* Decodes one code point at s (len > 0 bytes). Returns the bytes used; *cp = -1 if malformed. */
size_t text_decode(const char *s, size_t len, int32_t *cp);
/* Appends s in at most cols columns; if it is too long, replaces its middle by "…". */
void text_fit_middle(struct buf *out, const char *s, int cols);
/* Does the same, but replaces the end. */
void text_fit_end(struct buf *out, const char *s, int cols);
/* Appends a word for a shell, in quotes if needed. */
void text_shell_word(struct buf *out, const char *word);
/* Appends the first word of a command for a shell: also quoted if it is reserved. */
void text_shell_command(struct buf *out, const char *word);
/* Returns whether the first word of a command belongs to the shell's grammar: "if", "time". */
bool text_is_reserved(const char *word);
/* Formats "1.5 MiB", "312 B". */
void text_size(char *out, size_t size, uint64_t bytes);
