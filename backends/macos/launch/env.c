/* env - the agent's environment on a Mac: removes dangerous variables, adds cordon's. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/env.h"

#include <string.h>

static const char *const dropped_prefixes[] = {"DYLD_", "LD_", "Malloc", "__XPC_"};

struct list {
	char **all;
	size_t n;
};

static void push(struct list *l, char *text)
{
	l->all = xrealloc(l->all, (l->n + 2) * sizeof(*l->all));
	l->all[l->n++] = text;
	l->all[l->n] = NULL;
}

static bool is_dropped(const char *setting)
{
	for (size_t i = 0; i < ARRAY_LEN(dropped_prefixes); i++)
		if (str_starts(setting, dropped_prefixes[i]))
			return true;
	return false;
}

char **mac_env(const char *const *env, const char *tmpdir, const char *const *own)
{
	struct list l = {.all = xcalloc(1, sizeof(char *))};

	for (; env && *env; env++)
		if (!is_dropped(*env) && !(tmpdir && str_starts(*env, "TMPDIR=")) &&
		    !str_sets_same(*env, own))
			push(&l, xstrdup(*env));
	if (tmpdir)
		push(&l, xasprintf("TMPDIR=%s", tmpdir));
	for (; own && *own; own++)
		push(&l, xstrdup(*own));
	return l.all;
}
