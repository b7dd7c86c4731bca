/* syntax - finds comments, strings, numbers and keywords in a line of code, by a language table. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * For colours only: no decision depends on it. A line is parsed alone, with the state after the
 * line before it: inside a comment or a string of several lines. A diff may begin in the middle of
 * a comment, so its first line may wrongly count as code.
 * Cost:    linear in the line. Text is raw bytes of any kind.
 * Threads: any.
 */
enum syntax_class {
	SYNTAX_PLAIN,
	SYNTAX_COMMENT,
	SYNTAX_STRING,
	SYNTAX_NUMBER,
	SYNTAX_KEYWORD,
	SYNTAX_TYPE,
};

struct syntax;

const struct syntax *syntax_of(const char *path); /* by file name; NULL: unknown language */
/* Parses a line. classes: enum syntax_class of each byte, or NULL. Returns the state after the
 * line. The state of a first line is 0. */
uint8_t syntax_line(const struct syntax *l, uint8_t state, const char *text, size_t len,
		    uint8_t *classes);
