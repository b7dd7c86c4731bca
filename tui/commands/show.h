/* show - output of commands: styles, times, escaped text, and the question before a change. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/err.h"

/* Styles for standard output: empty strings if it is no terminal, or without colours. */
enum style {
	STYLE_NONE,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_RED,
	STYLE_GREEN,
	STYLE_YELLOW,
	STYLE_CYAN,
};
const char *style_on(enum style s);
const char *style_off(void);
/* Returns the terminal's columns; 0 if standard output is no terminal. */
int show_columns(void);

/* Writes "22:04:45" for today, "Nov 20 22:04" for earlier days. */
void show_time(char *out, size_t size, int64_t wall_us);
/* Prints agent text, escaped, on standard output. */
void show_text(const char *s, size_t len);
void show_on(FILE *to, const char *s, size_t len); /* on another stream */
void show_file_line(const char *s, size_t len);	   /* of a file, on standard output; keeps tabs */
void show_folder(const char *path);		   /* "~/p" below the home */

/* Asks a yes-or-no question. Returns 0 for yes; -ECANCELED, or -EPERM without a terminal. */
int confirm_yes(const char *question, struct err *err) MUST_USE;

/* Prints text beside a margin (already printed on the first line), wrapped at blanks, and a
 * newline. */
void show_wrapped(const char *text, int margin, int columns);
/* Prints a line of --help: "--profile NAME" and its description, in 80 columns. Completions are
 * made from it. */
void show_option(const char *option, const char *help);

/* Flushes standard output. Returns `status`, or CMD_FAILED with err set if the reader is gone or
 * the disk is full. */
int finish(int status, struct err *err);
