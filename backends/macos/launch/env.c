/* env - the agent's environment on a Mac: removes dangerous variables, adds cordon's. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/env.h"

#include <string.h>

static const char *const dropped_prefixes[] = {"DYLD_", "LD_", "Malloc", "__XPC_"};

static bool is_dropped(const char *setting)
{
	for (size_t i = 0; i < ARRAY_LEN(dropped_prefixes); i++)
		if (str_starts(setting, dropped_prefixes[i]))
			return true;
	return false;
}

char **mac_env(const char *const *env, const char *tmpdir, const char *const *own)
{
	char **all = xcalloc(1, sizeof(*all));
	size_t n = 0;

	for (; env && *env; env++)
		if (!is_dropped(*env) && !(tmpdir && str_starts(*env, "TMPDIR=")) &&
		    !str_sets_same(*env, own))
			util_list_push(&all, &n, xstrdup(*env));
	if (tmpdir)
		util_list_push(&all, &n, xasprintf("TMPDIR=%s", tmpdir));
	for (; own && *own; own++)
		util_list_push(&all, &n, xstrdup(*own));
	return all;
}
