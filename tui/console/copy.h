/* copy - puts text into the clipboard of the user's terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/screen.h"

/* Sends the text in OSC 52: the user has selected it, but its bytes are the agent's. Terminals do
 * not report whether they accept it. Threads: main loop. */
int copy_by_terminal(struct screen *screen, const char *text, size_t len, struct err *err) MUST_USE;
