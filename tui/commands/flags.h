/* flags - a command's options: one table for parsing and --help. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

/* One option: parsing and --help read the same table. */
struct flag {
	const char *name;
	const char *arg; /* NULL: a switch; else the value's name in --help */
	size_t at;	 /* offset of a bool or a const char * in the command's struct */
	const char *help;
};

struct usage {
	const char *synopsis; /* "log [--json]" */
	const char *about;    /* a sentence or two */
	const struct flag *flags;
	size_t n_flags;
};

/* Stores argv in the command's struct and *rest ("-3" and everything after "--" are arguments).
 * rest NULL: the command takes none; rest->most: it takes no more. Returns 0; 1
 * after printing --help; -EINVAL. */
int flags_parse(const struct usage *u, int argc, char **argv, void *out, struct strings *rest,
		struct err *err) MUST_USE;
