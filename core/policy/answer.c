/* answer - the paths and hosts that a user's answer covers. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/policy/rules/glob.h"
#include "core/policy/policy_priv.h"

char *answer_object(const char *path, bool is_dir, const struct answer *a)
{
	char *object = xasprintf("%s%s", path, is_dir ? "/" : "");

	for (unsigned i = 0; a->extent == EXTENT_TREE && i < a->up; i++) {
		AUTO_FREE char *dir = path_dir(object);
		AUTO_FREE char *above = path_dir(dir);

		free(object);
		object = xasprintf("%s/", str_eq(above, "/") ? "" : above);
	}
	return object;
}

static char *quoted(const char *path, const char *tail)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (!str_eq(path, "/"))
		glob_quote(&b, path);
	buf_str(&b, tail);
	if (!b.len)
		buf_ch(&b, '/');
	return buf_take(&b);
}

void answer_patterns(const char *path, enum answer_extent extent, char *ret[2])
{
	AUTO_FREE char *dir = path_dir(path);

	ret[1] = NULL;
	switch (extent) {
	case EXTENT_EXACT:
		ret[0] = quoted(str_ends(path, "/") ? dir : path, "");
		return;
	case EXTENT_DIR:
		ret[0] = quoted(dir, "/*");
		ret[1] = quoted(dir, "");
		return;
	case EXTENT_TREE:
		ret[0] = quoted(dir, "/**");
		return;
	case EXTENT_BUNDLE: /* has its own patterns */
		ret[0] = quoted(path, "");
		return;
	}
}
