/* safe_tools - suggests other tools for find -exec, xargs, parallel, and rm outside folders. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/safe_tools.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"

static char *advise_find(char *const *args, const struct safe_tools_context *c)
{
	static const char *const acts[] = {"-exec", "-execdir", "-ok", "-okdir", "-delete", NULL};

	for (; *args; args++)
		if (str_one_of(*args, acts))
			return c->fd ? xasprintf(
					       "find %s is not for agents: list with '%s PATTERN' "
					       "or find without it, look at the list, then name "
					       "the files",
					       *args, c->fd)
				     : xasprintf("find %s is not for agents: list without it, look "
						 "at the list, then name the files",
						 *args);
	return NULL;
}

static char *advise_pipe(const char *name)
{
	return xasprintf(
		"%s runs a command on names that nobody has seen: name the files, or write "
		"a loop over them (for f in *.c; do ...; done)",
		name);
}

/* Returns the operand with its directory resolved, but not its last name: rm removes a link itself.
 * Heap. */
static char *place_of(const char *operand, const char *cwd)
{
	AUTO_FREE char *full = path_join(cwd, operand);
	AUTO_FREE char *clean = NULL;
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *real = NULL;
	size_t len = strlen(full);

	while (len > 1 && full[len - 1] == '/')
		full[--len] = '\0';
	dir = xstrndup(full, MAX((size_t)(path_base(full) - full), (size_t)1));
	real = realpath(dir, NULL);
	if (real)
		return path_join(real, path_base(full));
	clean = path_clean(full);
	return take_ptr(&clean);
}

static bool is_in_folders(const char *path, const char *folders)
{
	for (const char *at = folders; *at; at += *at == ':') {
		size_t len = strcspn(at, ":");
		AUTO_FREE char *folder = xstrndup(at, len);

		if (path_is_beneath(path, folder))
			return true;
		at += len;
	}
	return false;
}

/* Returns whether rm may remove the path: in a folder, or in a place of the sandbox's own. */
static bool may_go(const char *path, const struct safe_tools_context *c)
{
	static const char *const own[] = {"/tmp", "/var/tmp", "/dev/shm"};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (path_is_inside(path, own[i]))
			return true;
	return (c->cache && path_is_beneath(path, c->cache)) || is_in_folders(path, c->folders);
}

static char *advise_rm(char *const *args, const struct safe_tools_context *c)
{
	bool options = true;

	for (; c->folders && *args; args++) {
		AUTO_FREE char *place = NULL;
		char shown[256];

		if (options && **args == '-' && (*args)[1]) {
			options = !str_eq(*args, "--");
			continue;
		}
		place = place_of(*args, c->cwd);
		if (may_go(place, c))
			continue;
		text_escape_into(shown, sizeof(shown), place, strlen(place));
		return xasprintf("%s lies outside the working folders, and is not yours to remove: "
				 "ask the user",
				 shown);
	}
	return NULL;
}

static const char *const names[] = {"find", "xargs", "parallel", "rm", NULL};

bool safe_tools_has(const char *name)
{
	return str_one_of(name, names);
}

char *safe_tools_advice(const char *name, char *const *args, const struct safe_tools_context *c)
{
	if (str_eq(name, "find"))
		return advise_find(args, c);
	if (str_eq(name, "rm"))
		return advise_rm(args, c);
	return safe_tools_has(name) ? advise_pipe(name) : NULL;
}
