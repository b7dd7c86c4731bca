/* git_programs - which of git's settings name programs, and which words of them may be paths. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

enum git_names {
	GIT_NAMES_NOTHING,
	GIT_NAMES_PROGRAM,
	GIT_NAMES_ALIAS,   /* run only where a human asks for just that */
	GIT_NAMES_ADDRESS, /* a program behind "ext::" */
	GIT_NAMES_DIR,	   /* of what git runs or copies */
};

/* What the value of a setting names: section "core" or "filter.lfs", name in lower case. */
enum git_names git_setting_names(const char *section, const char *name);

enum git_word {
	WORD_FIRST,    /* a program: without a slash it is looked for in $PATH */
	WORD_SCRIPT,   /* what an interpreter runs */
	WORD_ARGUMENT, /* any other */
};

/* In a word: the value of a variable, or what a command printed. */
#define GIT_WORD_UNKNOWN '\1'

/* Calls on() with each word of a value that is given to a shell: in quotes the whole and its words.
 * word is borrowed until on() returns. */
void git_each_word(const char *value, void (*on)(void *arg, const char *word, enum git_word kind),
		   void *arg);
