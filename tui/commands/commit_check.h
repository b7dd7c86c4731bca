/* commit_check - detects a commit that reverts another one, made while git was starting. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/commands/commit_index.h"

/*
 * git protects the branch only after it has read HEAD. If an agent commits between cordon's and
 * git's reading of HEAD, the tree based on the older commit reverts the agent's commit. To be
 * called after git's commit. -EBUSY: that happened; cordon has removed its commit from the branch,
 * or err names it.
 */
int commit_check_parent(const struct commit_index *x, struct err *err) MUST_USE;
