/* standing - settings and rules as a run in this folder would have them. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/standing.h"

#include <string.h>

int standing_load(struct standing *s, const struct here *at, const struct standing_run *run,
		  struct err *err)
{
	const struct config_spec spec = {.home = at->home,
					 .config_home = getenv("XDG_CONFIG_HOME"),
					 .folder = at->folder,
					 .state_dir = at->state_dir,
					 .profile = run->profile,
					 .command = run->command};
	struct policy_spec about = {.home = at->home, .path = getenv("PATH")};
	const char *const *list;
	size_t n;
	int r = config_load(&s->config, &spec, err);

	if (r < 0)
		return r;
	strings_add(&s->folders, at->folder);
	n = config_list(s->config, "sandbox.rw", &list);
	for (size_t i = 0; i < n; i++)
		strings_add(&s->folders, list[i]);
	config_list(s->config, "sandbox.ro", &about.read_only);
	about.config = s->config;
	about.folders = s->folders.list;
	about.dynamic = str_eq(config_str(s->config, "sandbox.mode"), "dynamic");
	return policy_new(&s->policy, &about, err);
}

void standing_done(struct standing *s)
{
	policy_free(s->policy);
	config_free(s->config);
	strings_done(&s->folders);
}
