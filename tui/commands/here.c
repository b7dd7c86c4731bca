/* here - finds the working folder of the current directory, and paths in it. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/here.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/journal/journal.h"
#include "core/session/folders.h"

int here_find(struct here *p, struct err *err)
{
	int r = folders_home(&p->home, err);

	if (r < 0)
		return r;
	p->state_dir = folders_state_dir(p->home);
	return folders_of_cwd(&p->folder, p->state_dir, err);
}

void here_done(struct here *p)
{
	free(p->home);
	free(p->state_dir);
	free(p->folder);
}

int here_keep_out(const char *folder, struct err *err)
{
	const char *home = getenv("HOME") ? getenv("HOME") : "/";
	AUTO_FREE char *state = folders_state_dir(home);
	struct config *config = NULL;
	int r = config_load(&config,
			    &(struct config_spec){.home = home,
						  .config_home = getenv("XDG_CONFIG_HOME"),
						  .state_dir = state},
			    err);

	if (r == 0)
		folders_keep_out(state, home, NULL, config);
	external_keep_out(folder);
	config_free(config);
	return r;
}

int here_moved(const char *folder, const char *state_dir, int r, struct err *err)
{
	const struct journal_spec spec = {.folder = folder, .state_dir = state_dir};
	AUTO_FREE char *was = NULL;
	struct err ignored = {0};
	int found = 0;

	/* -EPROTO: the store moved with the folder, or another directory has its name. */
	if (r == 0 || r == -ENOENT || r == -EPROTO)
		found = journal_find_moved(&spec, &was, r < 0 ? &ignored : err);
	if (found <= 0)
		return r < 0 ? r : found;
	return err_say(err, r < 0 ? r : -ENOENT,
		       "this folder was renamed: its history is that of '%s': `cordon log --adopt` "
		       "takes it over",
		       was);
}

int here_open(const struct here *p, const char *nothing, struct journal **ret, struct err *err)
{
	const struct journal_spec spec = {
		.folder = p->folder, .state_dir = p->state_dir, .read_only = true};
	int r = journal_open(ret, &spec, NULL, err);

	if (r == -ENOENT && nothing)
		err_say(err, r, "no steps yet in %s: %s", p->folder, nothing);
	return r < 0 ? here_moved(p->folder, p->state_dir, r, err) : 0;
}

/* Returns the argument's name in the folder, or NULL; it points into *clean (heap). */
static const char *place(const struct here *p, const char *arg, char **clean)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *joined = path_join(cwd ? cwd : p->folder, arg);

	*clean = path_clean(joined);
	return path_below(*clean, p->folder);
}

int here_paths(const struct here *p, const struct strings *args, size_t first, struct strings *ret,
	       struct err *err)
{
	for (size_t i = first; i < args->n; i++) {
		AUTO_FREE char *clean = NULL;
		const char *below = place(p, args->list[i], &clean);

		if (!below)
			return err_say(err, -EINVAL, "'%s': outside the working folder %s",
				       args->list[i], p->folder);
		strings_add(ret, xstrdup(below));
	}
	return 0;
}

void here_places(const struct here *p, const struct strings *args, struct strings *ret)
{
	for (size_t i = 0; i < args->n; i++) {
		AUTO_FREE char *clean = NULL;
		const char *below = place(p, args->list[i], &clean);

		strings_add(ret, xstrdup(below ? below : clean));
	}
}

void here_paths_done(struct strings *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free((void *)(uintptr_t)paths->list[i]);
	strings_done(paths);
}
