/* builtin - the shipped themes, keymaps and profiles: the files, compiled in. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

struct builtin_file {
	const char *name; /* "dark.theme", "claude.profile" */
	const char *text;
};

extern const struct builtin_file builtin_files[]; /* ends with a NULL name */
/* Returns the file, or NULL if there is none of this name. */
const char *builtin_find(const char *name);
