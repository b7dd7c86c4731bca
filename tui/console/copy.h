/* copy - puts text into the clipboard of the human's terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/look/screen.h"

/* The text is the human's choice, its content the agent's: it goes out encoded (OSC 52). No
 * terminal says whether it takes that. Threads: main loop. */
int copy_by_terminal(struct screen *screen, const char *text, size_t len, struct err *err) MUST_USE;
