/* floor - what of the sandbox holds without the keeper: what the door may leave to the kernel. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/landlock_trees.h"
#include "core/net/window.h"

struct gateway;
struct proxy_door;

struct floor {
	/*
	 * What the agent's Landlock domain lets be read and run: every open is trapped, and what
	 * these do not cover is the keeper's to hand out. NULL: reading is not confined here.
	 */
	const struct trees *trees;
	/*
	 * No mounts: the agent sees the host's own tree. Then nothing but the door refuses a change
	 * of what Landlock does not know (mode, owner, times, attributes) outside the folders,
	 * except in these directories, which are the sandbox's; resolved, ending with NULL. NULL:
	 * there are mounts.
	 */
	const char *const *own;
	/*
	 * Trees that the keeper does not hand out anything from, whatever policy says of reading:
	 * elsewhere a mount of the sandbox's own lies there. NULL-terminated, or NULL.
	 */
	const char *const *shut;
	/* Connections to hosts are decided on and dialled from here. Taken over by the door where
	 * that comes about. NULL: there is the sandbox's own network, or the host's. */
	struct gateway *gateway;
	/* The host's network without a namespace: this is all that may be connected to. Borrowed.
	 */
	struct proxy_door *proxy;
	/* Where that network is shared: what may be listened at. */
	struct net_window window;
};
