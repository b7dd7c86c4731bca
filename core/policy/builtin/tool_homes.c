/* tool_homes - directories of the home folder in which tools keep caches, settings and programs. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/builtin/tool_homes.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/listing.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy_priv.h"

/* Returns whether the path can be the directory of one tool: not a home or a top-level
 * directory. */
static bool is_narrow(const char *path, const char *home)
{
	return *path == '/' && !path_is_beneath(home, path) && path_depth(path) >= 2;
}

/* Returns the directory that the row's variable names outside, or NULL. Heap. */
static char *moved_to(const char *setting, const char *home)
{
	static const char mark[] = "=$CORDON_CACHE";
	size_t len = setting ? strcspn(setting, "=") : 0;
	AUTO_FREE char *name = xstrndup(setting ? setting : "", len);
	const char *value = len && str_starts(setting + len, mark) ? getenv(name) : NULL;
	AUTO_FREE char *path = value && *value == '/' ? path_clean(value) : NULL;

	return path && is_narrow(path, home) ? take_ptr(&path) : NULL;
}

static bool read_row(const char *row, const char *home, struct tool_home *ret)
{
	size_t len = strcspn(row, " \t");
	AUTO_FREE char *given = xstrndup(row, len);
	AUTO_FREE char *whole = path_expand_home(given, home);
	const char *setting = row + len + strspn(row + len, " \t");
	bool named = *setting == '+';
	char *moved;

	setting += named;
	if (!len || *whole != '/')
		return false;
	*ret = (struct tool_home){.setting = strchr(setting, '=') ? setting : NULL,
				  .shared = given[len - 1] == '/'};
	moved = moved_to(ret->setting, home);
	ret->named = named || moved;
	ret->path = moved ? moved : path_clean(whole);
	return true;
}

size_t tool_homes_read(const struct config *c, const char *home, struct tool_home **ret)
{
	const char *const *rows = NULL;
	size_t n = c ? config_list(c, "sandbox.tool-home", &rows) : 0, kept = 0;

	*ret = n ? xcalloc(n, sizeof(**ret)) : NULL;
	if (n && !config_bool(c, "sandbox.cache"))
		return 0;
	for (size_t i = 0; i < n; i++)
		kept += read_row(rows[i], home, &(*ret)[kept]);
	return kept;
}

void tool_homes_free(struct tool_home *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].path);
	free(list);
}

/* Returns the directory that path leads to, or NULL. Heap. */
static char *usable(const char *path, const struct rules_scope *scope)
{
	AUTO_FREE char *real = NULL;
	struct stat st;

	if (listing_lacks(scope->at_home, path) || lstat(path, &st) < 0) /* most are missing */
		return NULL;
	real = realpath(path, NULL);
	if (!real || lstat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return NULL;
	if (str_eq(real, path))
		return take_ptr(&real);
	for (const char *const *f = scope->folders; f && *f; f++)
		if (path_is_beneath(real, *f))
			return NULL;
	return st.st_uid == geteuid() && is_narrow(real, scope->home) ? take_ptr(&real) : NULL;
}

static void grant(struct rules *r, const char *path)
{
	static const struct rule_frame frame = {
		.name = "homes of tools", .file = "sandbox.tool-home", .level = LEVEL_PROFILE};
	const struct rule rule = {.of = &frame,
				  .verdict = RULE_ALLOW,
				  .kinds = 1u << RULE_READ | 1u << RULE_EXEC,
				  .pattern = path};

	rules_place_path(r, rules_add(r, &rule), path, "/**");
}

void tool_homes_grant(struct rules *r, const struct config *c, const struct rules_scope *scope)
{
	struct tool_home *list;
	size_t n = tool_homes_read(c, scope->home, &list);

	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *real = list[i].shared ? NULL : usable(list[i].path, scope);

		if (real)
			grant(r, real);
	}
	tool_homes_free(list, n);
}
