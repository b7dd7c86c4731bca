/* template - a settings file in which every line is a comment, made from the table of settings. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* project: `.cordon.conf` of a folder, with the settings that such a file may tighten; else the
 * user's own file, with all of them. Heap string. */
char *template_settings(bool project) MUST_USE;
