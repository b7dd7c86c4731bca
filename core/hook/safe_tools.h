/* safe_tools - suggests other tools for find -exec, xargs, parallel, and rm outside folders. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Guidance, never security: the sandbox decides, and /usr/bin/find is as it was. Any thread; rm
 * resolves the directory that each operand lies in.
 */
struct safe_tools_context {
	const char *cwd; /* absolute */
	const char
		*folders;  /* the working folders, "/a:/b"; NULL: not known, rm is not looked at */
	const char *cache; /* a directory of the sandbox's own; may be NULL */
	const char *fd;	   /* the name of fd(1) here ("fd", "fdfind"); NULL: it is not here */
};

bool safe_tools_has(const char *name); /* is there a front end for it? */
/* Returns advice, a sentence or two without a newline, or NULL; heap. args are without the name of
 * the program. */
char *safe_tools_advice(const char *name, char *const *args, const struct safe_tools_context *c)
	MUST_USE;
