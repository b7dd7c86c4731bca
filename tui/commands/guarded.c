/* guarded - finds names in a commit that a session asks about before a write. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/guarded.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/commands/here.h"
#include "tui/commands/standing.h"

static void add(struct buf *out, const struct policy *p, const char *path, const char *name)
{
	const char *reason = NULL;

	policy_check(p, POLICY_RENAME_TO, path, &reason);
	buf_str(out, "  ");
	text_escape(out, name, strlen(name));
	buf_fmt(out, "%s%s\n", reason ? ": " : "", reason ? reason : "");
}

int guarded_names(struct buf *out, const char *folder, const char *names, size_t len,
		  struct err *err)
{
	AUTO_HERE struct here at = {0};
	AUTO_STANDING struct standing s = {0};
	int r = here_find(&at, err);

	if (r < 0)
		return r;
	free(at.folder);
	at.folder = xstrdup(folder);
	r = standing_load(&s, &at, &(struct standing_run){0}, err);
	if (r < 0)
		return r;
	standing_learn(&s);
	for (const char *name = names, *end = names + len; name < end; name += strlen(name) + 1) {
		AUTO_FREE char *path = path_join(folder, name);

		if (policy_guards(s.policy, path, 0))
			add(out, s.policy, path, name);
	}
	return 0;
}
