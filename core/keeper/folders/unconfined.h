/* unconfined - a thread that may change granted places outside the keeper's confinement. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct keeper;

int outside_start(struct keeper *k, struct err *err) MUST_USE;
void outside_stop(struct keeper *k);
/* Runs fn(arg) outside the keeper's confinement (see keeper.h). folder_*() on a granted folder call
 * this themselves. Synchronous; -EPERM if there is no such thread. */
int folder_run_outside(struct keeper *k, int (*fn)(void *arg), void *arg);
