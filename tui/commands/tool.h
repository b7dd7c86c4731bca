/* tool - cordon under the name of find, xargs, parallel or rm: a front end inside the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Returns whether argv[0] is one of these names; then tool_main() is the program. */
bool tool_is(const char *name);
/* CORDON_TOOLS = on: refuses a dangerous call with a message (status 1); warn: prints the
 * message and runs the tool. Otherwise executes the next program of that name in PATH, and does
 * not return. */
int tool_main(char **argv);
