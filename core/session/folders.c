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
#include "core/policy/rules/pattern.h"
#include "core/session/start/mounts.h"

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
		*passed = xrealloc(*passed, (n + 2) * sizeof(**passed));
		(*passed)[n] = xstrdup(at);
		(*passed)[n + 1] = NULL;
		if (has_store(at, state_dir)) {
			external_keep_out(at);
			return;
		}
	}
}

/* Patterns that let the agent write, and the state directory: for the life of the process. */
static struct {
	char **patterns;
	size_t n, indexed;
	struct rule_index *index;
	char *state_dir;
} written;

/* Returns the pattern of an "allow" line about writing, with a leading home; heap. NULL: it is of
 * other things, or of the whole system. */
static char *written_pattern(const char *value, const char *home)
{
	static const char *const homes[] = {"$HOME", "~"};
	size_t kinds = strcspn(value, " \t");
	AUTO_FREE char *words = xstrndup(value, kinds);
	const char *at = value + kinds + strspn(value + kinds, " \t");
	char *pattern = NULL;

	if (!strstr(words, "write"))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(homes) && !pattern; i++)
		if (str_starts(at, homes[i]))
			pattern = xasprintf("%s%s", home, at + strlen(homes[i]));
	if (!pattern)
		pattern = xstrdup(at);
	if (*pattern == '/' && strcspn(pattern, "*?[") > 1)
		return pattern;
	free(pattern);
	return NULL;
}

static void index_pattern(const char *text)
{
	struct pattern p = PATTERN_INIT;
	const char *why;

	if (pattern_parse(&p, text, &why))
		index_add(written.index, &p,
			  &(struct index_rule){.number = 1, .names = INDEX_AS_IS});
	pattern_done(&p);
}

/* Adds a pattern; also with the links in its place resolved, as paths of programs are. */
static void index_written(const char *text)
{
	size_t plain = strcspn(text, "*?[\\");
	AUTO_FREE char *place = NULL, *real = NULL;
	AUTO_BUF struct buf whole = BUF_INIT;

	index_pattern(text);
	while (text[plain] && text[plain - 1] != '/')
		plain--;
	place = xstrndup(text, plain);
	real = realpath(place, NULL);
	if (!real)
		return;
	glob_quote(&whole, real);
	buf_fmt(&whole, "%s%s", text[plain] ? "/" : "", text + plain);
	index_pattern(whole.data);
}

static void on_hit(void *data, const struct index_hit *hit)
{
	(void)hit;
	*(bool *)data = true;
}

static bool is_written(const char *path)
{
	bool hit = false;

	if (!written.index)
		written.index = index_new();
	for (; written.indexed < written.n; written.indexed++)
		index_written(written.patterns[written.indexed]);
	index_find(written.index, path, INDEX_AS_IS, on_hit, &hit);
	return hit;
}

static bool is_stored(const char *path)
{
	AUTO_FREE char *at = xstrdup(path);

	for (char *slash; (slash = strrchr(at, '/')) && slash > at; *slash = '\0')
		if (has_store(at, written.state_dir))
			return true;
	return false;
}

/* In a directory: any program could be there soon. */
static bool agent_writes(const char *path, enum external_use use)
{
	AUTO_FREE char *within = path_join(path, "program");

	return is_written(path) || is_written(within) ||
	       (use == EXTERNAL_PROGRAM && is_stored(path));
}

/* Takes the pattern. */
static void add_written(char *pattern)
{
	if ((written.n & (written.n - 1)) == 0)
		written.patterns = xrealloc(written.patterns, MAX(written.n * 2, (size_t)8) *
								      sizeof(*written.patterns));
	written.patterns[written.n++] = pattern;
}

void folders_keep_out_answer(const char *object, enum answer_extent extent)
{
	char *patterns[2] = {0};

	if (*object == '/')
		answer_patterns(object, extent, patterns);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		if (patterns[i])
			add_written(patterns[i]);
}

static void keep_out_rules(const struct config *c, const char *home)
{
	for (size_t i = 0; c && i < config_rules(c); i++) {
		const struct config_rule rule = config_rule(c, i);
		char *pattern = rule.what == CONFIG_ALLOW && !rule.untrusted
					? written_pattern(rule.value, home)
					: NULL;

		if (pattern)
			add_written(pattern);
	}
}

void folders_keep_out(const char *state_dir, const char *home, const struct config *c)
{
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
	keep_out_rules(c, home);
	free(written.state_dir);
	written.state_dir = xstrdup(state_dir);
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
