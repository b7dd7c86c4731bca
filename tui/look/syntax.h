/* syntax - comments, strings, numbers and keywords of a line of code, by a table of languages. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * It colours what a human reads and decides nothing. A line is looked at alone, with the state that
 * the line before it left: inside a comment or a string of several lines. A diff begins in the
 * middle of a file, so a first line may be taken for code that is none.
 * Cost: linear in the line. Text is raw bytes of any kind. Threads: any.
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

const struct syntax *syntax_of(const char *path); /* by its name; NULL: none that is known */
/* classes: enum syntax_class of each byte, or NULL. Returns the state after the line; 0 begins. */
uint8_t syntax_line(const struct syntax *l, uint8_t state, const char *text, size_t len,
		    uint8_t *classes);
