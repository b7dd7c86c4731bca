/* concurrent - finds paths that concurrent steps changed as well. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;
struct step;
struct names;
struct path_set;
struct undo_log;

/* Finds the paths that the steps of the group (logs: those to be applied) share with a concurrent
 * step that is not rolled back. */
int concurrent_find(struct journal *j, const struct names *group, const struct undo_log *logs,
		    struct path_set *ret, struct err *err) MUST_USE;
uint64_t concurrent_began(const struct undo_log *undo); /* a sequence number; 0: unknown */
uint64_t concurrent_ended(int stepdir);			/* of a kept step; UINT64_MAX: unknown */

/* Marks s and other open steps that share paths with it: concurrent steps depend on each other, so
 * none is dropped, even if it changed nothing in the end. */
void concurrent_tangle(struct step *s);
/* Marks other open steps that share paths with s as incomplete: s is about to be rolled back, and
 * they captured its changes as their before-state. */
void concurrent_untangle(struct step *s);
