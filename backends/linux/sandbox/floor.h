/* floor - the part of the sandbox that holds without the keeper: the door may leave these calls to
 * the kernel. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/landlock_trees.h"
#include "core/net/window.h"

struct gateway;
struct proxy_door;

struct floor {
	/*
	 * Trees that the agent's Landlock domain may read and run. Every open is trapped, and the
	 * keeper hands out other files. NULL: reading is not confined.
	 */
	const struct trees *trees;
	/*
	 * Without mounts: directories of the sandbox's own, resolved, ending with NULL. The agent
	 * sees the host's tree, and outside these only the door refuses changes that Landlock does
	 * not handle (mode, owner, times, attributes). NULL: there are mounts.
	 */
	const char *const *own;
	/*
	 * Trees from which the keeper hands out no file, whatever policy allows to read: other
	 * backends mount the sandbox's own there. NULL-terminated, or NULL.
	 */
	const char *const *shut;
	/* Connections to hosts are judged and dialled by this gateway. The door takes it. NULL: the
	 * sandbox has no way to hosts, or the host's network. */
	struct gateway *gateway;
	/* Without a network namespace: the only address that may be connected to. Borrowed. */
	struct proxy_door *proxy;
	/* With the host's network: the ports that may be listened at. */
	struct net_window window;
};
