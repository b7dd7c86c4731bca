/* shell_priv - the parser shared by shell.c and shell_words.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/hook/shell.h"

#define HEREDOCS_MAX 16 /* that wait for the end of their line */

struct heredoc {
	const char *end;
	bool strip; /* "<<-": leading tabs are ignored */
};

struct parser {
	struct shell_line *line;
	const char *p, *end;
	unsigned depth;
	unsigned braces; /* number of open "${" */
	struct heredoc docs[HEREDOCS_MAX];
	size_t n_docs;
};

/* ---- shell.c: commands ---- */
/* Parses commands up to this character (')', '}', a back quote), or to the end of the text: 0. */
int shell_parse_list(struct parser *ps, char until);

/* ---- shell_words.c: one word ---- */
bool shell_at(const struct parser *ps, const char *s); /* whether the text continues with s */
bool shell_is_meta(char c);			       /* it ends a word */
void shell_skip_blanks(struct parser *ps);	       /* and skips a comment */
/* Skips the bodies after this line; one without an end extends to the end of the text. */
void shell_skip_heredocs(struct parser *ps);
int shell_read_word(struct parser *ps, struct shell_word *ret);
int shell_descend(struct parser *ps, char until); /* parses commands within a word */
int shell_skip_arithmetic(struct parser *ps);
