/* git_programs - finds settings of git that name programs, and words in them that may be paths. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

enum git_names {
	GIT_NAMES_NOTHING,
	GIT_NAMES_PROGRAM,
	GIT_NAMES_ALIAS,   /* run only at an explicit command of the user */
	GIT_NAMES_ADDRESS, /* a program after "ext::" */
	GIT_NAMES_DIR,	   /* a directory of files that git runs or copies */
};

/* Returns the kind of value of a setting: section "core" or "filter.lfs", name in lower case. */
enum git_names git_setting_names(const char *section, const char *name);

enum git_word {
	WORD_FIRST,    /* a program: without a slash it is searched for in $PATH */
	WORD_SCRIPT,   /* a script of an interpreter */
	WORD_ARGUMENT, /* any other */
};

/* Replaces the value of a variable, or the output of a command, in a word. */
#define GIT_WORD_UNKNOWN '\1'

/* A word of a value that is passed to a shell. All of it is borrowed until on() returns. */
struct git_word_at {
	const char *word;
	enum git_word kind;
	const char *dir; /* directory of an earlier "cd DIR &&" or "make -C DIR"; NULL: none */
};

/* Calls on() with each word; for quoted text, with the whole and with its words. A directory
 * applies up to the end of the value; later words may also be relative to an earlier directory. */
void git_each_word(const char *value, void (*on)(void *arg, const struct git_word_at *at),
		   void *arg);
