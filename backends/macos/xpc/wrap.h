/* wrap - runs one command under a profile that the environment describes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * "WRAPPER -- COMMAND [ARGUMENT...]" with XPC_CONFIG_VARIABLE (config.h) in the environment: this
 * process enters the sandbox and becomes the command, which does not get the variable.
 *
 * It fails closed: whatever goes wrong, the command does not run. Where the variable could be read
 * and says "on_failure":"open", the command runs without a sandbox instead, and `say` tells so.
 * What cannot be read says nothing: it is closed.
 */
struct xpc_wrap {
	const struct mac_os *os;
	const char *sandbox_exec; /* NULL: the function */
	const char *home;
	char *const *argv, *const *env; /* of this process */
	void (*say)(void *data, const char *line);
	void *data;
};

/* Returns only when the command does not run: the exit status, 125, 126 or 127. */
int xpc_wrap(const struct xpc_wrap *w);
