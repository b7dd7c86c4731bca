/* door - the system-call door: trapped calls in, calls of core/keeper/folders/folder.h out. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/filter.h"
#include "backends/linux/sandbox/floor.h"
#include "core/keeper/door.h"

/*
 * Life:    door_new() in the keeper, as soon as the listener has arrived -> door->ops->close().
 * Owner:   takes both descriptors, also on failure.
 * root:    O_PATH descriptor of "/" as the agent sees it (from /proc/PID/root of a process inside,
 * or opened there and passed on): the view in which symbolic links are resolved.
 * floor:   copied; what it points to is borrowed until the last serve().
 */
struct door *door_new(struct keeper *k, int listener, int sandbox_root_fd,
		      const struct filter_spec *spec, const struct floor *floor, struct err *err)
	MUST_USE;
