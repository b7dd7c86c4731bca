/* durability - syncs in the right order, for stores that survive power loss. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/base/util.h"

struct journal;

/* These do nothing unless the journal is durable. */
int durability_sync_fd(const struct journal *j, int fd) MUST_USE;
/* Syncs the file systems of folder, roots and store. */
int durability_sync_all(struct journal *j) MUST_USE;
