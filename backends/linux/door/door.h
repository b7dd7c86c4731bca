/* door - the system-call door: receives trapped calls, calls core/keeper/folders/folder.h. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/filter.h"
#include "backends/linux/sandbox/floor.h"
#include "core/keeper/door.h"

struct ldoor;

/*
 * Life:    door_new() in the keeper, as soon as the listener has arrived -> door->ops->close().
 * Owner:   takes both descriptors, also on failure.
 * root:    O_PATH descriptor of "/" as the agent sees it (from /proc/PID/root of a process
 *          inside, or opened there and passed on): symbolic links are resolved in this view.
 * floor:   copied; its pointers are borrowed until the last serve().
 */
struct door *door_new(struct keeper *k, int listener, int sandbox_root_fd,
		      const struct filter_spec *spec, const struct floor *floor, struct err *err)
	MUST_USE;
/* Serves one request after poll(2) has reported one at a listener. Returns -EPIPE if no process
 * with its filter is left. */
int door_serve_listener(struct ldoor *d, int fd, short events);
