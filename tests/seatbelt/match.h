/* match - regular expressions as in profiles, byte by byte, in time length x size. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Literals, `\` before a character, `.`, sets with ranges, groups, `|`, `*`, `+`, `?`, `^`, `$`.
 * A match may be anywhere in the text, as in Seatbelt.
 *
 * Life: match_new() -> match_free(); NULL is a no-op.
 * Threads: one, because matching uses scratch memory of the program.
 * Errors: -EINVAL: it is none of these; -E2BIG: it is too large or too deep. */
struct match;

int match_new(struct match **ret, const char *regex, struct err *err) MUST_USE;
void match_free(struct match *m);
bool match_finds(struct match *m, const char *text);
