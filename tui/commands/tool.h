/* tool - cordon under the name of find, xargs, parallel or rm: a front end inside the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Does argv[0] name one of them? Then tool_main() is the program. */
bool tool_is(const char *name);
/* CORDON_TOOLS = on: refuses with words (status 1) what they are about; warn: says them and runs
 * it. Else the program of that name that follows in PATH. Does not return when that runs. */
int tool_main(char **argv);
