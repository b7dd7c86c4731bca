/* saved_redo - `cordon redo --saved`: brings back files that were saved. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

/* As plain files of the human's: nothing that is there is replaced. given: of these paths alone. */
int saved_redo_bring(uint64_t number, const struct strings *given, struct err *err) MUST_USE;
