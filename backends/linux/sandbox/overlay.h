/* overlay - copy-on-write directories, whose changes are kept separately. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/* Returns the nearest of spec->overlays that contains path and serves a tool; -1: none. */
int overlay_of_tool(const struct spawn_spec *spec, const char *path);
/*
 * Makes a whiteout of path in the upper layer: the name does not exist inside, even if the host
 * gets it later. Returns 0, 1 if the upper layer has another file there, which the agent made, or
 * negative errno.
 */
int overlay_white_out(const struct spawn_spec *spec, int i, const char *path);
/*
 * Makes upper/ and work/ in overlay_dir() for the i-th of spec->overlays. Returns the mount options
 * and the path of upper/, heap strings. The session settles them when it closes.
 */
int overlay_prepare(char **ret_options, char **ret_upper, const struct spawn_spec *spec, size_t i,
		    struct err *err) MUST_USE;
