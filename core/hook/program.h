/* program - the words of one command: its options, and the command that it runs in turn. */
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
/* The subcommand of git: its options before that are passed over. NULL: none. */
const char *program_git_command(const struct program *p);
/* The command line of "sh -c LINE", "bash -lc LINE", "eval LINE"; NULL: none. */
const char *program_script(const struct program *p);
bool program_is_shell(const char *name);
/*
 * The last how many of its words are a command that it runs: "timeout 5 make" 1, "env A=b make x"
 * 2, "find . -exec rm {} ;" 3, "xargs rm" 1. 0: none; fewer than p->n always.
 */
size_t program_wrapped(const struct program *p);
