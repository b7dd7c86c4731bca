/* floor - what of the sandbox holds without the keeper: what the door may leave to the kernel. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/trees.h"

struct floor {
	/*
	 * What the agent's Landlock domain lets be read and run: every open is trapped, and what
	 * these do not cover is the keeper's to hand out. NULL: reading is not confined here.
	 */
	const struct trees *trees;
};
