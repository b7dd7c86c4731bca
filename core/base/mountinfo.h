/* mountinfo - what is mounted where, as /proc/self/mountinfo tells it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

struct mount_line {
	char *root, *point;   /* which directory of it is mounted, and where; in the text */
	char *type, *options; /* of the file system */
};

char *mountinfo_read(void) MUST_USE; /* heap, or NULL */
/* The next mount of the text, which is taken apart by it; *at may be NULL. False: no more. */
bool mountinfo_next(char **at, struct mount_line *ret);
