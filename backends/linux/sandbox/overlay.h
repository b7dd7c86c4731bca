/* overlay - copy-on-write directories: what the agent changes there is kept aside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Make upper/ and work/ in overlay_dir() for the i-th of spec->overlays and give the mount options.
 * The session has them settled when it closes. Heap string.
 */
int overlay_prepare(char **ret_options, const struct spawn_spec *spec, size_t i, struct err *err)
	MUST_USE;
