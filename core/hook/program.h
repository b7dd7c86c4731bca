/* program - parses the words of one command: its options, and a command that it runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* The words are not copied. argv[0] is the program; assignments before it ("A=b make") are left
 * out. */
struct program {
	const char *const *argv;
	size_t n;
};

void program_of(struct program *ret, const char *const *words, size_t n);

bool program_has(const struct program *p, const char *word); /* whether an argument is this word */
bool program_has_flag(const struct program *p, char letter); /* "-rf" has 'r' and 'f' */
bool program_has_short(const char *word, char letter);	     /* the same for one word */
/* Returns the subcommand of git, which follows its options; NULL: there is none. */
const char *program_git_command(const struct program *p);
/* Returns the command line of "sh -c LINE", "bash -lc LINE", "eval LINE"; NULL: there is none. */
const char *program_script(const struct program *p);
bool program_is_shell(const char *name);
/*
 * Returns how many of the last words are a command that it runs: "timeout 5 make" 1, "env A=b make
 * x" 2, "find . -exec rm {} ;" 3, "xargs rm" 1. 0: none; always less than p->n.
 */
size_t program_wrapped(const struct program *p);
