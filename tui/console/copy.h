/* copy - puts text where the human pastes from: the terminal's clipboard, or a command. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/screen.h"

/*
 * The text is the human's choice, its content the agent's: it goes out encoded, or into the input
 * of a command that the human has set. Neither waits: a command that fails says nothing. Threads:
 * main loop.
 */

/* OSC 52: no terminal says whether it takes that. */
int copy_by_terminal(struct screen *screen, const char *text, size_t len, struct err *err) MUST_USE;
/* A shell command with the text on its input; its output is dropped. setting: where it is from, for
 * err. */
int copy_by_command(const char *command, const char *setting, const char *text, size_t len,
		    struct err *err) MUST_USE;
