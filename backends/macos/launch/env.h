/* env - what of an environment does not get inside on a Mac, and what is added. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * A copy of env without the variables that load code into programs or make them write elsewhere
 * (DYLD_*, LD_*, Malloc*, __XPC_DYLD_*), with TMPDIR as given (NULL: as it is) and with `own`,
 * settings of ours that take the place of others of their names; NULL: none. A program that is
 * signed by Apple drops DYLD_* by itself; others do not. Heap, NULL-terminated; util_free_list().
 */
char **mac_env(const char *const *env, const char *tmpdir, const char *const *own) MUST_USE;
