/* group_members - finds processes that work in the open group, and its owner. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct keeper;
struct proc;

bool steps_is_agent(const struct keeper *k, const struct proc *p);
/* Notes that p has changed a file: p and its ancestors work in the group. */
void group_mark(struct keeper *k, struct proc *p);
/* Returns another process that still works in the group, or NULL. Its later changes would stay. */
struct proc *group_still_at_work(struct keeper *k, struct proc *caller);
/*
 * Returns the process of the script that began the group: the step ends with it. NULL means the
 * session: the agent, or a shell that was started for this one call.
 */
struct proc *group_owner_of(struct keeper *k, struct proc *p);
