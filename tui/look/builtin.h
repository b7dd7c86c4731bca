/* builtin - the shipped themes and keymaps, compiled in from themes and keymaps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

struct builtin_file {
	const char *name; /* "dark.theme" */
	const char *text;
};

extern const struct builtin_file builtin_files[]; /* ends with a NULL name */
/* NULL: not shipped. */
const char *builtin_find(const char *name);
