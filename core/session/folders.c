/* folders - finds the working folder, and the files that cordon keeps for it. */
/* SPDX-License-Identifier: MIT */
#include "core/session/folders.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/journal/journal.h"
#include "core/policy/rules/rules.h"
#include "core/policy/written.h"
#include "core/session/start/mounts.h"

char *folders_state_dir(const char *home)
{
	const char *set = getenv("XDG_STATE_HOME");
	AUTO_FREE char *base =
		set && *set == '/' ? path_clean(set) : xasprintf("%s/.local/state", home);
	AUTO_FREE char *real = realpath(base, NULL);

	return path_join(real ? real : base, "cordon");
}

/* ---- who may change the state ------------------------------------------------------------------
 */

static bool is_owned_by_other(const struct stat *st, uid_t home)
{
	return st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != home;
}

/* Returns whether another user may put files into a directory, or replace the link that leads to
 * it. sticky: a sticky directory is good, because it protects the files in it. */
static bool is_others(const char *path, uid_t home, bool sticky)
{
	struct stat st, link;

	if (stat(path, &st) < 0 || lstat(path, &link) < 0)
		return false;
	if (is_owned_by_other(&st, home) || is_owned_by_other(&link, home))
		return true;
	return st.st_mode & S_IWOTH && !(sticky && st.st_mode & S_ISVTX);
}

/* Checks the state directory, which can trust settings in the user's name, and the one above it.
 * Both may be a group's. Returns 0, or -EPERM with words. */
static int check_writers(const char *home, struct err *err)
{
	AUTO_FREE char *state = folders_state_dir(home);
	AUTO_FREE char *above = path_dir(state);
	struct stat st = {.st_uid = geteuid()};
	const char *bad = NULL;

	(void)!stat(home, &st);
	if (is_others(above, st.st_uid, true))
		bad = above;
	else if (is_others(state, st.st_uid, false))
		bad = state;
	return bad ? err_say(err, -EPERM,
			     "%s: another user may write to this directory, and so trust settings "
			     "for you: chmod o-w or chown it, or set XDG_STATE_HOME to one of "
			     "your own",
			     bad)
		   : 0;
}

static bool has_store(const char *dir, const char *state_dir)
{
	const struct journal_spec spec = {.folder = dir, .state_dir = state_dir, .read_only = true};
	AUTO_FREE char *store = NULL;
	struct stat st;

	return journal_store_path(&store, &spec, NULL) == 0 && lstat(store, &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* Checks the file systems before any other access to them. */
static int check_mounts(const char *home, struct err *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	return mounts_answer((const char *[]){cwd, NULL},
			     (const char *[]){home, getenv("XDG_STATE_HOME"), NULL}, err);
}

/* Returns the home folder, and sets $HOME where a service or cron has not, as shells do: the agent
 * needs it. */
static const char *find_home(void)
{
	const char *home = getenv("HOME");
	struct passwd entry, *user = NULL;
	char text[4096];

	if (!home && getpwuid_r(geteuid(), &entry, text, sizeof(text), &user) == 0 && user &&
	    user->pw_dir && *user->pw_dir == '/' && setenv("HOME", user->pw_dir, 1) == 0)
		home = getenv("HOME");
	return home;
}

int folders_home(char **ret, struct err *err)
{
	const char *home = find_home();
	int r;

	if (!home || *home != '/')
		return err_say(err, -EINVAL,
			       "HOME: not an absolute path: set HOME to your home directory");
	r = check_mounts(home, err);
	if (r < 0)
		return r;
	r = check_writers(home, err);
	if (r < 0)
		return r;
	*ret = realpath(home, NULL);
	if (!*ret)
		*ret = path_clean(home);
	return 0;
}

const char *folders_private(const char *home)
{
	static const char *const private[] = {"/tmp", "/var/tmp", "/run", "/dev"};

	for (size_t i = 0; i < ARRAY_LEN(private); i++)
		if (path_is_beneath(home, private[i]))
			return private[i];
	return NULL;
}

int folders_of_cwd(char **ret, const char *state_dir, struct err *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *dir = NULL;

	if (!cwd || *cwd != '/')
		return err_say(
			err, -ENOENT,
			"working folder: the current directory is gone: cd to one that exists");
	dir = xstrdup(cwd);
	for (;;) {
		char *slash = strrchr(dir, '/');

		if (has_store(dir, state_dir)) {
			*ret = take_ptr(&dir);
			return 0;
		}
		if (slash == dir)
			break;
		*slash = '\0';
	}
	*ret = take_ptr(&cwd);
	return 0;
}

/* ---- programs outside the sandbox -------------------------------------------------------------
 */

/* Keeps programs from running files in the nearest directory from dir upwards with an undo store.
 * Stops at a directory that an earlier call has visited. */
static void keep_out_stored(const char *dir, const char *state_dir, char ***passed)
{
	AUTO_FREE char *at = xstrdup(dir);

	for (char *slash; (slash = strrchr(at, '/')) && slash > at; *slash = '\0') {
		size_t n = 0;

		for (; (*passed)[n]; n++)
			if (str_eq((*passed)[n], at))
				return;
		util_list_push(passed, &n, xstrdup(at));
		if (has_store(at, state_dir)) {
			external_keep_out(at);
			return;
		}
	}
}

static char *stores; /* the state directory */

static bool is_stored(const char *path)
{
	AUTO_FREE char *at = xstrdup(path);

	for (char *slash; (slash = strrchr(at, '/')) && slash > at; *slash = '\0')
		if (has_store(at, stores))
			return true;
	return false;
}

/* Returns whether a rule or answer may let the agent make a program in this directory. */
static bool is_written_in(const char *path)
{
	AUTO_FREE char *within = path_join(path, "program");
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && written_by_agent(within);
}

static bool agent_writes(const char *path, enum external_use use)
{
	return written_by_agent(path) || is_written_in(path) ||
	       (use == EXTERNAL_PROGRAM && is_stored(path));
}

void folders_keep_out(const char *state_dir, const char *home, const char *const *folders,
		      const struct config *c)
{
	const struct rules_scope scope = {.home = home, .folders = folders};
	AUTO_FREE char *path = xstrdup(getenv("PATH"));
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	char **passed = xcalloc(1, sizeof(*passed));
	char *dirs[64], *rest = NULL;
	size_t n = 0;

	external_keep_out(NULL);
	if (cwd && !path_is_beneath(home, cwd) && !path_is_beneath("/usr/bin", cwd))
		external_keep_out(cwd);
	for (char *dir = path ? strtok_r(path, ":", &rest) : NULL; dir && n < ARRAY_LEN(dirs);
	     dir = strtok_r(NULL, ":", &rest))
		if (*dir == '/' && (dirs[n] = realpath(dir, NULL)))
			n++;
	for (size_t i = 0; i < n; i++)
		keep_out_stored(dirs[i], state_dir, &passed);
	free(stores);
	stores = xstrdup(state_dir);
	/* If they cannot be added, each place counts as written. */
	if (c)
		(void)!written_add_rules(c, &scope, &(struct err){0});
	external_ask(agent_writes);
	for (size_t i = 0; i < n; i++)
		free(dirs[i]);
	util_free_list(&passed);
}

char *folders_audit_path(const char *state_dir, const char *folder)
{
	AUTO_FREE char *label = path_label(folder);

	return xasprintf("%s/audit/%s.ndjson", state_dir, label);
}
