/* template - generates a settings file of comments from the table of settings. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* Returns a heap string. project: the `.cordon.conf` of a folder, with the settings that such a
 * file may tighten; else the user's own file, with all settings. */
char *template_settings(bool project) MUST_USE;
