/* program - parses the words of one command: its options, and a command that it runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Borrowed words. argv[0] is the program, without assignments ("A=b make") before it. */
struct program {
	const char *const *argv;
	size_t n;
};

void program_of(struct program *ret, const char *const *words, size_t n);

bool program_has(const struct program *p, const char *word); /* one of its arguments */
bool program_has_flag(const struct program *p, char letter); /* "-rf" has 'r' and 'f' */
bool program_has_short(const char *word, char letter);	     /* the same of one word */
/* Returns the subcommand of git, after the options before it; NULL: none. */
const char *program_git_command(const struct program *p);
/* Returns the command line of "sh -c LINE", "bash -lc LINE", "eval LINE"; NULL: none. */
const char *program_script(const struct program *p);
bool program_is_shell(const char *name);
/*
 * Returns how many of its last words are a command that it runs: "timeout 5 make" 1, "env A=b make
 * x" 2, "find . -exec rm {} ;" 3, "xargs rm" 1. 0: none; always fewer than p->n.
 */
size_t program_wrapped(const struct program *p);
