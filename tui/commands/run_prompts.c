/* run_prompts - agent.prompts: whether the agent asks by itself, or cordon alone. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "tui/commands/run.h"

/* A profile may name the agent's own switches for no questions (`unprompted`). The agent gets them
 * only if the user says so: each edit and command can be undone, and cordon asks about actions
 * outside the folder. */

/* Returns the last matching value: "cordon" or "own", alone or after a profile's name ("claude
 * cordon"). */
static const char *prompts_of(const struct config *c)
{
	const char *profile = config_profile(c), *const *list = NULL, *found = NULL;
	size_t n = config_list(c, "agent.prompts", &list);

	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(list[i], " ");

		if (!list[i][len])
			found = list[i];
		else if (profile && strlen(profile) == len && strncmp(list[i], profile, len) == 0)
			found = list[i] + len + strspn(list[i] + len, " ");
	}
	return found;
}

bool run_is_unprompted(const struct config *c)
{
	const char *prompts = prompts_of(c), *const *list = NULL;

	return prompts && str_eq(prompts, "cordon") &&
	       config_list(c, "sandbox.unprompted", &list) > 0;
}

/* Returns whether the user gave that option, with any value. */
static bool is_given(const char *const *argv, const char *option)
{
	size_t len = strcspn(option, "=");

	for (; *argv; argv++)
		if (strncmp(*argv, option, len) == 0 && (!(*argv)[len] || (*argv)[len] == '='))
			return true;
	return false;
}

void run_add_unprompted(struct run *run)
{
	const char *const *list = NULL;
	size_t n = config_list(run->config, "sandbox.unprompted", &list);

	for (size_t i = 0; run_is_unprompted(run->config) && i < n; i++)
		if (!is_given(run->opt.argv + 1, list[i]))
			strings_add(&run->argv, list[i]);
}

void run_offer_prompts(const struct run *run, struct buf *notes)
{
	const char *profile = config_profile(run->config), *const *list = NULL;
	AUTO_FREE char *dir = path_join(run->state_dir, "offered");
	AUTO_FREE char *mark = NULL;
	AUTO_CLOSE int fd = -1;

	if (!profile || strchr(profile, '/'))
		return;
	if (run_is_unprompted(run->config)) {
		buf_fmt(notes, "%s asks nothing by itself: cordon does (agent.prompts)\n", profile);
		return;
	}
	if (prompts_of(run->config) || !config_list(run->config, "sandbox.unprompted", &list))
		return;
	mark = path_join(dir, profile);
	if (io_mkdir_p(AT_FDCWD, dir, 0700) == 0)
		fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		buf_fmt(notes, "%s asks, too. To be asked once:\nagent.prompts = %s cordon\n",
			profile, profile);
}
