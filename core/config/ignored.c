/* ignored - edits.ignore: paths whose external changes are not edits. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/builtin.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/config/config_priv.h"

#define IGNORED_FILE "edits.ignore"

/* The user's own file replaces the shipped one. */
int config_ignored_edits(char **ret, const struct config_spec *spec, struct err *err)
{
	AUTO_FREE char *dir = spec ? config_home(spec->home, spec->config_home) : NULL;
	AUTO_FREE char *path = dir ? path_join(dir, IGNORED_FILE) : NULL;
	size_t len;
	int r = path ? config_own_text(path, spec, ret, &len, err) : -ENOENT;

	if (r != -ENOENT)
		return r;
	*ret = xstrdup(builtin_find(IGNORED_FILE));
	return 0;
}
