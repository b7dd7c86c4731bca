/* pipe_command - runs a shell command of the human's settings with a text on its input. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Does not wait: its output is dropped, and that it fails is not heard. The text may hold any byte
 * of the agent's, the command is the human's. setting: where it is from, for err. Threads: main
 * loop. */
int pipe_command(const char *command, const char *setting, const char *text, size_t len,
		 struct err *err) MUST_USE;
