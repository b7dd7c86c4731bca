/* aside - `cordon redo --aside`: brings back files that were put aside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

/* As plain files of the human's: nothing that is there is replaced. given: of these paths alone. */
int aside_bring(uint64_t number, const struct strings *given, struct err *err) MUST_USE;
