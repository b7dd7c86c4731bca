/* group - one step for several commands: `cordon step begin`, `end` and `abort` from inside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct keeper;
struct proc;

/* Begins a group, or ends it (name ""). Ends an open one first. */
int group_from_cordon(struct keeper *k, const char *name, struct err *err) MUST_USE;
void group_leave(struct keeper *k, const struct proc *p);
