/* shell - parses a command line by the shell's grammar: commands with their words. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/arena.h"

/*
 * The grammar of POSIX sh (IEEE 1003.1-2017, 2.3 and 2.10) and of bash(1) as far as it separates
 * commands and words: quotes, expansions, pipes, lists, subshells, substitutions,
 * redirections, here-documents, compound commands. Nothing is expanded or run. Commands of loops,
 * functions and substitutions are listed where they stand in the text.
 *
 * Life:   zero-initialised; shell_parse() -> shell_done(), also after a failure.
 * Limits: SHELL_*_MAX; beyond them -E2BIG, and the commands found before are kept.
 */
#define SHELL_TEXT_MAX	   (64u << 10) /* bytes */
#define SHELL_COMMANDS_MAX 512
#define SHELL_WORDS_MAX	   4096 /* of all commands */
#define SHELL_DEPTH_MAX	   16	/* nested substitutions and subshells */

struct shell_word {
	const char *text; /* without quotes; an expansion as written: "$HOME/x" */
	bool literal;	  /* no expansion: the program gets this text, except for globs */
	bool quoted;	  /* partly quoted: no glob, no tilde */
};

struct shell_redirect {
	const char *op; /* "<" ">" ">>" "<>" ">|" "&>" "<<<" ... */
	struct shell_word target;
};

struct shell_command {
	size_t word, n_words;	      /* in shell_line.words; n_words may be 0: "> file" */
	size_t redirect, n_redirects; /* in shell_line.redirects */
	bool piped;		      /* its input is the output of the previous command */
};

struct shell_line {
	struct shell_command *commands;
	struct shell_word *words;
	struct shell_redirect *redirects;
	size_t n_commands, n_words, n_redirects;
	size_t cap_commands, cap_words, cap_redirects;
	struct arena strings;
};

/* Parses a command line. Returns 0; -EINVAL: a syntax error (an open quote, a wrong parenthesis);
 * -E2BIG: a limit. */
int shell_parse(struct shell_line *line, const char *text, size_t len) MUST_USE;
void shell_done(struct shell_line *line);

#define AUTO_SHELL CLEANUP(shell_done)
