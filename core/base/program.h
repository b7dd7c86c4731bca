/* program - the file that a program's name stands for. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* As execvp(3) finds it: a name with a slash is a path, any other is looked for in $PATH, where an
 * empty entry is the working directory. Links are not resolved. Heap; NULL: there is none that this
 * user may run. */
char *program_find(const char *name) MUST_USE;
/* Is file a regular file, links resolved, that this user may execute? */
bool program_runs(const char *file);
/* It is there, and not by the working folder, where anybody's file may have its name. */
bool program_is_installed(const char *name);
