/* names - a list of strings: of the entries of a directory, say, or directories of steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct names { /* each string and the list are on the heap; zeroed: empty */
	char **list;
	size_t n;
};
void names_add(struct names *g, char *name); /* takes ownership */
void names_done(struct names *g);
#define AUTO_NAMES CLEANUP(names_done)
