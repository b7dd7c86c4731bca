/* keeper_domain - what the keeper itself may still do and write once the agent runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

struct keeper;

/* Confines this process for good: it writes in the folders, in their stores and below root, the
 * sandbox's own; without mounts, in what the plan lets the agent write and beside its own
 * directory. */
int keeper_domain_enter(struct keeper *k, const struct plan *plan, int root,
			const struct spawn_spec *spec, struct err *err) MUST_USE;
