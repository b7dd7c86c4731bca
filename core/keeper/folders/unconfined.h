/* unconfined - a thread that may change granted places, where the keeper itself may not. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct keeper;

int outside_start(struct keeper *k, struct err *err) MUST_USE;
void outside_stop(struct keeper *k);
/* Run fn(arg) where the keeper's own confinement does not reach (see keeper.h). folder_*() on a
 * granted folder do this by themselves. Synchronous; -EPERM where there is no such thread. */
int folder_run_outside(struct keeper *k, int (*fn)(void *arg), void *arg);
