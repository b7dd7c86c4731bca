/* commit_check - detects a commit that reverts another one, made while git was starting. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/commands/commit_index.h"

/*
 * git protects the branch from the time that it reads HEAD. If an agent commits after cordon has
 * read HEAD and before git does, the tree that was built on the older commit reverts the agent's
 * commit. To be called after git has committed. -EBUSY: that happened; cordon has taken its commit
 * off the branch again, or err names it.
 */
int commit_check_parent(const struct commit_index *x, struct err *err) MUST_USE;
