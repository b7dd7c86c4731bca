/* reading - what the commands that only look at things share: flags, the folder, colours. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "tui/commands/options.h"

/* One option: parsing, --help and the manual page read the same table. */
struct flag {
	const char *name;
	const char *arg; /* NULL: a switch; else what --help calls the value */
	size_t at;	 /* offsetof a bool or a const char * in the command's struct */
	const char *help;
};

struct usage {
	const char *synopsis; /* "log [--json]" */
	const char *about;    /* a sentence or two */
	const struct flag *flags;
	size_t n_flags;
};

/*
 * Sorts argv into the command's struct and *rest (arguments; "-3" is one, so is all after "--").
 * 1: --help was asked for and printed; 0; -EINVAL.
 */
int reading_parse(const struct usage *u, int argc, char **argv, void *out, struct strings *rest,
		  struct err *err) MUST_USE;

/* Where a command looks. */
struct here {
	char *home, *state_dir, *folder;
};
#define AUTO_HERE CLEANUP(here_done)
int here_find(struct here *p, struct err *err) MUST_USE;
void here_done(struct here *p);
/*
 * A folder that was renamed has its history under its old name. Then that is said, of r, the error
 * that is in *err, or of 0, where none was made yet, for which it is -ENOENT; else r stays.
 */
int here_moved(const char *folder, const char *state_dir, int r, struct err *err) MUST_USE;
/* Arguments from `first` on, paths relative to the current directory, made relative to the folder.
 * The strings are *ret's own. */
int here_paths(const struct here *p, const struct strings *args, size_t first, struct strings *ret,
	       struct err *err) MUST_USE;
/* The same, but what lies elsewhere is no error: it stays absolute. */
void here_places(const struct here *p, const struct strings *args, struct strings *ret);
void here_paths_done(struct strings *paths);

/* Styles for standard output: empty strings unless it is a terminal that wants colours. */
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
/* Columns of the terminal, or 0 when standard output is none. */
int screen_columns(void);

/* "22:04:45" today, "Nov 20 22:04" before. */
void show_time(char *out, size_t size, int64_t wall_us);
/* Agent text escaped, on standard output. */
void show_text(const char *s, size_t len);
void show_on(FILE *to, const char *s, size_t len); /* the same elsewhere */

/* Words behind a margin (already there on the first line), broken at blanks, and a newline. */
void show_wrapped(const char *text, int margin, int columns);

/* Flush; a reader that went away or a full disk is CMD_FAILED with words, else `status`. */
int finish(int status, struct err *err);
