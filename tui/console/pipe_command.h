/* pipe_command - runs a shell command of the user's settings with a text on its input. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Does not wait; the command's output and exit status are dropped. The text may hold any byte of
 * the agent's; the command is the user's. setting: the command's setting, for err. Threads: main
 * loop. */
int pipe_command(const char *command, const char *setting, const char *text, size_t len,
		 struct err *err) MUST_USE;
