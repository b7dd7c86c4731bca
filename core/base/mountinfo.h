/* mountinfo - parses /proc/self/mountinfo. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

struct mount_line {
	/* The mounted directory of the file system, and the mount point; both in the text. */
	char *root, *point;
	char *type, *options; /* of the file system */
};

char *mountinfo_read(void) MUST_USE; /* heap, or NULL */
/* Parses the next mount of the text, which it changes; *at may be NULL. Returns false at the
 * end. */
bool mountinfo_next(char **at, struct mount_line *ret);
