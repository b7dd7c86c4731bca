/* safe_tools - suggests other tools for find -exec, xargs, parallel, and rm outside folders. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Guidance, never security: the sandbox decides, and /usr/bin/find is unchanged. Any thread; rm
 * resolves the directory of each operand.
 */
struct safe_tools_context {
	const char *cwd;     /* absolute */
	const char *folders; /* the working folders, "/a:/b"; NULL: unknown, rm is not checked */
	const char *cache;   /* a directory of the sandbox; may be NULL */
	const char *fd;	     /* the name of fd(1) here ("fd", "fdfind"); NULL: not installed */
};

bool safe_tools_has(const char *name); /* whether it has a front end */
/* Returns advice, one or two sentences without a newline, or NULL; heap. args lack the program's
 * name. */
char *safe_tools_advice(const char *name, char *const *args, const struct safe_tools_context *c)
	MUST_USE;
