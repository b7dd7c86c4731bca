/* log_turns - `cordon log --turns`: one row for each prompt of the human. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/* Newest first; returns 0 or negative errno. */
int log_turns(struct journal *j, bool json, struct err *err);
