/* standing - settings and rules that a run in this folder would have. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/standing.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "tui/commands/here.h"

static void add_places(struct strings *to, const struct config *c, const char *key)
{
	const char *const *list;
	size_t n = config_list(c, key, &list);

	for (size_t i = 0; i < n; i++)
		strings_add(to, list[i]);
}

/* Adds hidden paths; one that does not exist is hidden by its given name. list: NULL-terminated, or
 * NULL. */
static void add_hidden(struct standing *s, const struct here *at, const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++) {
		AUTO_FREE char *expanded = path_expand_home(list[i], at->home);
		AUTO_FREE char *joined = path_join(at->folder, expanded);
		char *real = realpath(joined, NULL);

		real = real ? real : path_clean(joined);
		strings_add(&s->owned, real);
		strings_add(&s->hidden, real);
	}
}

int standing_load(struct standing *s, const struct here *at, const struct standing_run *run,
		  struct err *err)
{
	const struct config_spec spec = {.home = at->home,
					 .config_home = getenv("XDG_CONFIG_HOME"),
					 .folder = at->folder,
					 .file = run->file,
					 .state_dir = at->state_dir,
					 .settings = run->settings,
					 .profile = run->profile,
					 .command = run->command};
	struct policy_spec about = {.home = at->home, .path = getenv("PATH")};
	const char *const *others[3], *const *hidden = NULL;
	int r = config_load(&s->config, &spec, err);

	if (r < 0)
		return r;
	strings_add(&s->folders, at->folder);
	add_places(&s->folders, s->config, "sandbox.rw");
	add_places(&s->read_only, s->config, "sandbox.ro");
	add_places(&s->overlays, s->config, "sandbox.overlay");
	config_list(s->config, "sandbox.hide", &hidden);
	add_hidden(s, at, hidden);
	add_hidden(s, at, run->hide);
	others[0] = s->read_only.list;
	others[1] = s->overlays.list;
	others[2] = s->hidden.list;
	about.config = s->config;
	about.hidden = s->hidden.list;
	about.folders = s->folders.list;
	about.dynamic = str_eq(config_str(s->config, "sandbox.mode"), "dynamic");
	repositories_find(&s->repositories, &about, others, ARRAY_LEN(others));
	for (size_t i = 0; i < s->repositories.n_common; i++)
		strings_add(&s->folders, s->repositories.common[i]);
	about.repositories = (const char *const *)s->repositories.common;
	about.git_dirs = (const char *const *)s->repositories.git_dirs;
	about.folders = s->folders.list;
	about.read_only = s->read_only.list;
	about.overlays = s->overlays.list;
	return policy_new(&s->policy, &about, err);
}

void standing_learn(const struct standing *s)
{
	for (size_t i = 0; i < s->folders.n; i++)
		policy_learn(s->policy, s->folders.list[i]);
	while (policy_learn_more(s->policy))
		;
}

void standing_done(struct standing *s)
{
	policy_free(s->policy);
	config_free(s->config);
	strings_done(&s->folders);
	strings_done(&s->read_only);
	strings_done(&s->overlays);
	strings_done(&s->hidden);
	for (size_t i = 0; i < s->owned.n; i++)
		free((char *)(uintptr_t)s->owned.list[i]);
	strings_done(&s->owned);
	repositories_done(&s->repositories);
}
