/* sync - syncs the records of an open step to disk before their operations are performed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct capture;
struct step;

/* These do nothing unless the journal is durable. */
int capture_sync(struct capture *s) MUST_USE; /* syncs its records */
/* The same before an object is created in a directory; skipped if the step created the
 * directory. */
int step_sync_in(struct step *s, int dirfd) MUST_USE;
int step_sync_parts(struct step *s) MUST_USE;
