/* save_names - names that a program uses for the new version of a file until it renames it. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/base/path.h"
#include "core/policy/policy_priv.h"

/* Returns the length of the name in temporary names that programs use: X.tmp.123, X___jb_tmp___. */
static size_t saved_stem(const char *leaf)
{
	static const char *const marks[] = {".tmp", "___jb_tmp___", ".vsctmp"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *at = strcasestr(leaf, marks[i]);

		if (at)
			return (size_t)(at - leaf);
	}
	return SIZE_MAX;
}

/* Returns whether it is X.lock, where X is a file that git reads or another protected file of a
 * working folder, such as .gitconfig. */
static bool is_saved_by_git(const struct policy *p, const char *path, const char *leaf)
{
	static const char lock[] = ".lock", shared[] = "sharedindex_";
	size_t n = strlen(leaf), end = sizeof(lock) - 1;
	AUTO_FREE char *name = NULL;
	const char *reason;

	if (n > end && strcasecmp(leaf + n - end, lock) == 0)
		name = xstrndup(path, (size_t)(leaf - path) + n - end);
	else if (strncasecmp(leaf, shared, sizeof(shared) - 1) == 0)
		name = xasprintf("%.*ssharedindex.", (int)(leaf - path), path);
	return name && (policy_content(p, name) != CONTENT_NONE ||
			(places_cover(&p->folders, path) &&
			 policy_check(p, POLICY_RENAME_TO, name, &reason) != POLICY_ALLOW));
}

bool policy_carries_save(const struct policy *p, const char *path)
{
	const char *leaf = path_base(path), *reason;
	AUTO_FREE char *name = NULL;
	size_t stem;

	if (is_saved_by_git(p, path, leaf))
		return true;
	stem = saved_stem(leaf);
	if (stem == SIZE_MAX)
		return false;
	if (stem == 0) /* no name in it: it may become any of its directory */
		return check_builtin_write(p, POLICY_RENAME_TO, path).verdict != POLICY_ALLOW;
	name = xstrndup(path, (size_t)(leaf - path) + stem);
	return policy_check(p, POLICY_RENAME_TO, name, &reason) != POLICY_ALLOW ||
	       (!places_cover(&p->folders, path) &&
		policy_check_outside(p, POLICY_RENAME_TO, name, &reason) != POLICY_ALLOW);
}
