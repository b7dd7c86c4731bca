/* program - finds the file of a program by name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Finds a program like execvp(3): a name with a slash is a path, any other is searched for in
 * $PATH, where an empty entry is the working directory. Does not resolve links. Heap; NULL: this
 * user can run no such program. */
char *program_find(const char *name) MUST_USE;
/* Returns whether file is a regular file, links resolved, that this user may execute. */
bool program_runs(const char *file);
/* Returns whether the program is found by an absolute path. In a relative entry of $PATH any file
 * may have its name. */
bool program_is_installed(const char *name);
