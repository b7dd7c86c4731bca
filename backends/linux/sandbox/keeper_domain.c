/* keeper_domain - the keeper's own Landlock domain, while the agent runs. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/keeper_domain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "backends/linux/sandbox/landlock.h"
#include "core/keeper/keeper.h"

static int open_parent(const char *path)
{
	AUTO_FREE char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Without mounts: opens the directories that the agent may write, and the parent of its own one. */
static size_t open_own(const struct plan *p, int *fds, size_t max)
{
	size_t n = 0;

	if (!p->own)
		return 0;
	fds[n++] = open_parent(p->own);
	for (size_t i = 0; i < p->n_writable && n < max; i++)
		fds[n++] = open(p->writable[i], O_PATH | O_CLOEXEC);
	return n;
}

/* Opens the directory for mount points of tools (core/keeper/folders/tool_dirs.h). */
static size_t open_points(const struct spawn_spec *spec, int *fds)
{
	if (!spec->home_points)
		return 0;
	fds[0] = open(spec->home_points, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 1;
}

int keeper_domain_enter(struct keeper *k, const struct plan *plan, int root,
			const struct spawn_spec *spec, struct err *err)
{
	enum {
		MAX_OWN = 16,
		MAX_FDS = 64
	};
	int fds[MAX_FDS], r;
	size_t own;
	struct landlock_spec rules = {.writable = fds, .stdio = spec->stdio};
	struct folder *f;

	r = confine_keeper(err);
	if (r < 0 || spec->landlock_off)
		return r;
	own = open_own(plan, fds, MAX_OWN);
	own += open_points(spec, fds + own);
	rules.n = own;
	if (!plan->own)
		fds[rules.n++] = root;
	for (size_t i = 0; (f = folders_at(k, i)); i++) {
		if (rules.n + 2 > MAX_FDS)
			return err_say(err, -E2BIG, "too many working folders");
		fds[rules.n++] = folder_store_fd(f);
		fds[rules.n++] = folder_fd(f);
	}
	r = landlock_restrict(&rules, err);
	for (size_t i = 0; i < own; i++)
		util_close_fd(&fds[i]);
	return r < 0 ? err_wrap(err, r, "confine the keeper") : 0;
}
