/* sandbox - the parts of the SDK's <sandbox.h> that we use, for systems without it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <sys/types.h>

int sandbox_init(const char *profile, uint64_t flags, char **errorbuf);
int sandbox_init_with_parameters(const char *profile, uint64_t flags,
				 const char *const parameters[], char **errorbuf);
void sandbox_free_error(char *errorbuf);
int sandbox_check(pid_t pid, const char *operation, int type, ...);
