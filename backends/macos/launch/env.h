/* env - the agent's environment on a Mac: removes dangerous variables, adds cordon's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Returns a copy of env without the variables that load code into programs or make them write
 * elsewhere (DYLD_*, LD_*, Malloc*, __XPC_DYLD_*). tmpdir: TMPDIR, or NULL to keep it. own:
 * cordon's variables, which replace those of the same names, or NULL. Programs that are signed by
 * Apple drop DYLD_* by themselves, others do not. Heap, NULL-terminated; util_free_list().
 */
char **mac_env(const char *const *env, const char *tmpdir, const char *const *own) MUST_USE;
