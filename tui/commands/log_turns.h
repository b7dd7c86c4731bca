/* log_turns - `cordon log --turns`: one row for each prompt of the user. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/* Prints the turns, newest first. Returns 0 or negative errno. */
int log_turns(struct journal *j, bool json, struct err *err);
