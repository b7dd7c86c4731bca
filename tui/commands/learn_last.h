/* learn_last - `cordon learn --last`: proposes rules for the last session's refusals. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Returns whether the arguments of `cordon learn` are --last, instead of a command to run. */
bool learn_last_is_meant(int argc, char **argv) MUST_USE;
/* Prints the rules and, after a question, appends them to the user's settings. Returns the exit
 * status. */
int learn_last(int argc, char **argv, struct err *err) MUST_USE;
