/* env - what of an environment does not get inside on a Mac, and what is added. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * A copy of env without the variables that load code into programs or make them write elsewhere
 * (DYLD_*, LD_*, Malloc*, __XPC_DYLD_*), with TMPDIR as given (NULL: as it is) and, for ports that
 * are not 0, the variables of proxies in both spellings. A program that is signed by Apple drops
 * DYLD_* by itself; others do not. Heap, NULL-terminated; util_free_list().
 */
char **mac_env(const char *const *env, const char *tmpdir, uint16_t http_port, uint16_t socks_port)
	MUST_USE;
