/* overlay - copy-on-write directories: what the agent changes there is kept aside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Make <state_dir>/overlay/<session>/<n>-<name>/{upper,work} for the directory `path` and give the
 * mount options. The upper directory stays after the session; it is the caller who lists it. Heap
 * string.
 */
int overlay_prepare(char **ret_options, const struct spawn_spec *spec, const char *path,
		    struct err *err) MUST_USE;
/* Where the changes of `path` are kept. Heap string. */
char *overlay_upper(const struct spawn_spec *spec, const char *path) MUST_USE;
