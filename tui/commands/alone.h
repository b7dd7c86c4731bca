/* alone - `cordon` without arguments: the console in this folder, with the last command. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Saves the arguments of `cordon run` that opened a console in this folder. Best effort. */
void alone_note(const char *state_dir, const char *folder, int argc, char **argv);
/* Returns the command of the saved arguments, and its --profile (NULL: not given). Heap strings. */
void alone_command(const char *state_dir, const char *folder, char **ret_command,
		   char **ret_profile);
/* Runs the saved arguments again, or $SHELL; offers to attach if a session is open. Needs a
 * terminal.
 */
int cmd_alone(struct err *err);
