/* flags - a command's options: one table for parsing and --help. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

/* One option: parsing and --help read the same table. */
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
 * rest NULL: the command takes none.
 * 1: --help was asked for and printed; 0; -EINVAL.
 */
int flags_parse(const struct usage *u, int argc, char **argv, void *out, struct strings *rest,
		struct err *err) MUST_USE;
