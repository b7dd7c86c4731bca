/* alone - `cordon` without arguments: the console in this folder, with what ran here last. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* The arguments of `cordon run` that a console was opened with in this folder. What cannot be
 * written is not known the next time. */
void alone_note(const char *state_dir, const char *folder, int argc, char **argv);
/* Runs them again, else $SHELL; offers to attach where a session is open. Needs a terminal. */
int cmd_alone(struct err *err);
