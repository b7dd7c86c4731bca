/* unconfined - a thread that may change granted places outside the confinement of the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct keeper;

int outside_start(struct keeper *k, struct err *err) MUST_USE;
void outside_stop(struct keeper *k);
/* Runs fn(arg) outside the confinement of the keeper (see keeper.h). folder_*() on a granted folder
 * do this by themselves. Synchronous; -EPERM if there is no such thread. */
int folder_run_outside(struct keeper *k, int (*fn)(void *arg), void *arg);
