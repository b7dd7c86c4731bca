/* saved_redo - `cordon redo --saved`: brings back files that were saved. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

/* Writes saved files back as the user's plain files, and replaces no existing file. given: only
 * these paths. */
int saved_redo_bring(uint64_t number, const struct strings *given, struct err *err) MUST_USE;
