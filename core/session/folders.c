/* folders - which working folder is meant, and where cordon keeps what belongs to it. */
/* SPDX-License-Identifier: MIT */
#include "core/session/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/journal/journal.h"
#include "core/session/mounts.h"

char *folders_state_dir(const char *home)
{
	const char *set = getenv("XDG_STATE_HOME");
	AUTO_FREE char *base =
		set && *set == '/' ? path_clean(set) : xasprintf("%s/.local/state", home);
	AUTO_FREE char *real = realpath(base, NULL);

	return path_join(real ? real : base, "cordon");
}

static bool has_store(const char *dir, const char *state_dir)
{
	const struct journal_spec spec = {.folder = dir, .state_dir = state_dir, .read_only = true};
	AUTO_FREE char *store = NULL;
	struct stat st;

	return journal_store_path(&store, &spec, NULL) == 0 && lstat(store, &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* Before anything looks at them. */
static int check_mounts(const char *home, struct err *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	return mounts_answer((const char *[]){cwd, NULL},
			     (const char *[]){home, getenv("XDG_STATE_HOME"), NULL}, err);
}

int folders_home(char **ret, struct err *err)
{
	const char *home = getenv("HOME");
	int r;

	if (!home || *home != '/')
		return err_say(err, -EINVAL,
			       "HOME: not an absolute path: set HOME to your home directory");
	r = check_mounts(home, err);
	if (r < 0)
		return r;
	*ret = realpath(home, NULL);
	if (!*ret)
		*ret = path_clean(home);
	return 0;
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

/* The nearest directory from dir upwards that has an undo store. Heap, or NULL. */
static char *stored_above(const char *dir, const char *state_dir)
{
	AUTO_FREE char *at = xstrdup(dir);

	for (char *slash; (slash = strrchr(at, '/')) && slash > at; *slash = '\0')
		if (has_store(at, state_dir))
			return take_ptr(&at);
	return NULL;
}

/* The place that an "allow" line lets the agent write: up to the first wildcard. Heap, or NULL. */
static char *writable_place(const char *value, const char *home)
{
	size_t kinds = strcspn(value, " \t");
	AUTO_FREE char *words = xstrndup(value, kinds);
	AUTO_FREE char *path = path_expand_home(value + kinds + strspn(value + kinds, " \t"), home);
	size_t plain = strcspn(path, "*?[");

	if (!strstr(words, "write") || *path != '/')
		return NULL;
	if (path[plain])
		while (plain > 1 && path[plain - 1] != '/')
			plain--;
	path[plain] = '\0';
	return path_clean(path);
}

static void keep_out_rules(const struct config *c, const char *home, char *const *dirs, size_t n)
{
	for (size_t i = 0; c && i < config_rules(c); i++) {
		const struct config_rule rule = config_rule(c, i);
		AUTO_FREE char *place = rule.what == CONFIG_ALLOW && !rule.untrusted
						? writable_place(rule.value, home)
						: NULL;

		for (size_t k = 0; place && k < n; k++)
			if (path_is_beneath(dirs[k], place) || path_is_beneath(place, dirs[k]))
				external_keep_out(place);
	}
}

void folders_keep_out(const char *state_dir, const char *home, const struct config *c)
{
	AUTO_FREE char *path = xstrdup(getenv("PATH"));
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	char *dirs[64], *rest = NULL;
	size_t n = 0;

	if (cwd && !path_is_beneath(home, cwd) && !path_is_beneath("/usr/bin", cwd))
		external_keep_out(cwd);
	for (char *dir = path ? strtok_r(path, ":", &rest) : NULL; dir && n < ARRAY_LEN(dirs);
	     dir = strtok_r(NULL, ":", &rest))
		if (*dir == '/' && (dirs[n] = realpath(dir, NULL)))
			n++;
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *folder = stored_above(dirs[i], state_dir);

		external_keep_out(folder);
	}
	keep_out_rules(c, home, dirs, n);
	for (size_t i = 0; i < n; i++)
		free(dirs[i]);
}

char *folders_audit_path(const char *state_dir, const char *folder)
{
	AUTO_FREE char *label = path_label(folder);

	return xasprintf("%s/audit/%s.ndjson", state_dir, label);
}

/* The path in this file, behind these words, from dir on. Heap string; NULL. */
static char *read_pointer(const char *dir, const char *name, const char *words)
{
	AUTO_FREE char *file = path_join(dir, name);
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *joined = NULL;
	size_t len;

	if (io_read_file(AT_FDCWD, file, PATH_MAX, &text, &len) < 0 || !str_starts(text, words))
		return NULL;
	text[strcspn(text, "\r\n")] = '\0';
	joined = path_join(dir, text + strlen(words));
	return realpath(joined, NULL);
}

char *folders_repository(const char *folder)
{
	AUTO_FREE char *git = read_pointer(folder, ".git", "gitdir: ");
	char *common = git ? read_pointer(git, "commondir", "") : NULL;

	return common ? common : take_ptr(&git);
}
