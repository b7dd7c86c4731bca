/* keeper_domain - the keeper's own Landlock domain, while the agent runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

struct keeper;

/* Confines the keeper for good. It may write in the folders, in their stores and below root, which
 * is the sandbox's own; without mounts also where the plan lets the agent write, and beside the
 * agent's own directory. */
int keeper_domain_enter(struct keeper *k, const struct plan *plan, int root,
			const struct spawn_spec *spec, struct err *err) MUST_USE;
