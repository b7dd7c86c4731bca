/* step_dirs - a list of directories of steps below the store. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Directories of steps below the store, e.g. "steps/12". */
struct step_dirs {
	char **dirs;
	size_t n;
};
void step_dirs_add(struct step_dirs *g, char *dir); /* takes ownership */
void step_dirs_done(struct step_dirs *g);
