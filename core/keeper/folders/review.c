/* review - reports changes of git's own files that hide other changes from git. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/review.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/keeper/service.h"
#include "core/keeper/state.h"

#define SAID_MAX 100

struct said {
	char *what; /* path and kind of change */
	UT_hash_handle hh;
};

/* Returns false if it was reported before, or too many reports were made. */
static bool is_new(struct keeper *k, const char *path, const char *way)
{
	AUTO_FREE char *what = xasprintf("%s %s", path, way);
	struct said *s;

	HASH_FIND_STR(k->said, what, s);
	if (s || HASH_COUNT(k->said) >= SAID_MAX)
		return false;
	s = xcalloc(1, sizeof(*s));
	s->what = take_ptr(&what);
	HASH_ADD_KEYPTR(hh, k->said, s->what, strlen(s->what), s);
	return true;
}

/* Returns the path as it is shown to the user: relative to the first folder. */
static const char *shown(const struct keeper *k, const char *path)
{
	const struct folder *f = k->folders[0];

	return strncmp(path, f->path, f->path_len) == 0 && path[f->path_len] == '/'
		       ? path + f->path_len + 1
		       : path;
}

/* ---- files that git reads -------------------------------------------------------------------- */

/* Returns whether the repository existed. In a new one no status could have been seen before. */
static bool is_repository(const char *path, size_t len)
{
	AUTO_FREE char *head = xasprintf("%.*s/HEAD", (int)len, path);

	return faccessat(AT_FDCWD, head, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void review_change(struct keeper *k, enum policy_act act, const char *path)
{
	static const struct {
		const char *name, *words;
	} table[] = {
		{"info/exclude", "`git status` may not show new files"},
		{"refs/replace/", "git shows commits or files other than the committed ones"},
		{"info/grafts", "git shows another history"},
	};
	const char *git, *rest;

	if (act != POLICY_WRITE && act != POLICY_RENAME_TO && act != POLICY_LINK_FROM)
		return;
	git = str_ends(path, ".lock") ? NULL : strstr(path, ".git/");
	rest = git ? git + strlen(".git/") : "";
	for (size_t i = 0; git && i < ARRAY_LEN(table); i++) {
		const char *name = table[i].name;
		const size_t n = strlen(name);

		if (strncmp(rest, name, n) != 0 || (rest[n] && name[n - 1] != '/') ||
		    !is_repository(path, (size_t)(rest - path) - 1) || !is_new(k, path, ""))
			continue;
		keeper_warn(k, "'%s' changes: %s", shown(k, path), table[i].words);
	}
}

/* ---- configuration and index ----------------------------------------------------------------- */

void review_config(struct keeper *k, const char *path)
{
	const char *setting = policy_hides(k->policy);

	if (*setting && is_new(k, path, setting))
		keeper_warn(k, "'%s' has %s now: `git status` and `git diff` show less",
			    shown(k, path), setting);
}

void review_index(struct keeper *k, const char *path, struct span now, struct span old)
{
	AUTO_BUF struct buf first = BUF_INIT;
	const size_t n = policy_index_hides(path, now.data, now.len, old.data, old.len, &first);
	AUTO_FREE char *more = n > 1 ? xasprintf(" and %zu more", n - 1) : NULL;

	if (n && is_new(k, path, first.data))
		keeper_warn(k,
			    "'%s' tells git not to look at '%s'%s (assume-unchanged, "
			    "skip-worktree): `git status` and `git diff` do not show their changes",
			    shown(k, path), first.data, more ? more : "");
}

void review_done(struct keeper *k)
{
	struct said *s, *next;

	HASH_ITER (hh, k->said, s, next) {
		HASH_DEL(k->said, s);
		free(s->what);
		free(s);
	}
}
