/* git_settings - reads settings of git configurations, and pointers between git directories. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Calls on() with each setting of this text: section "core" or "filter.lfs", name in lower case;
 * value is NULL for a bare key. All are borrowed until on() returns. Skips lines that git would
 * refuse. Includes are settings like any other. */
void git_each_setting(const char *text,
		      void (*on)(void *data, const char *section, const char *name,
				 const char *value),
		      void *data);
/* Returns the path in the file dir/name after these words and blanks, relative to dir and not
 * cleaned (a ".." after a link cannot be resolved as text); heap, NULL: none. In `.git` it follows
 * "gitdir:", GIT/worktrees/NAME/gitdir and .../commondir contain only a path
 * (gitrepository-layout(5)). */
char *git_pointer(const char *dir, const char *name, const char *words) MUST_USE;
