/* git_dirs - finds git directories with other names than .git, by their content. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/os/text.h"
#include "core/policy/git/git_paths.h"
#include "core/policy/policy_priv.h"

/*
 * ".git" and "x.git" are git directories by their names (protect.c). A bare repository, the place
 * of
 * `--separate-git-dir`, or an agent's own snapshots may have any name. Those of the folder's
 * repositories are known from the start (learn.c). Of all others only a few names matter, and only
 * for these the disk is asked.
 */

/* Where programs keep git directories under names of their own, at any depth; below $HOME. */
static const char *const kept[] = {
	".local/share/opencode/snapshot",
};

static const char *fold_into(const struct policy *p, const char *head, const char *rest)
{
	struct buf *out = &((struct policy *)(uintptr_t)p)->rest;

	buf_clear(out);
	buf_str(out, head);
	names_fold_path(out, rest);
	return out->data;
}

/* As what lies below modules/ of one. */
static const char *find_kept(const struct policy *p, const char *path)
{
	const char *below = path_below(path, p->home), *rest;

	for (size_t i = 0; below && *below == '.' && i < ARRAY_LEN(kept); i++)
		if ((rest = path_below(below, kept[i])) && *rest)
			return fold_into(p, "modules/", rest);
	return NULL;
}

bool git_dirs_kept(const struct policy *p, const char *path)
{
	return find_kept(p, path);
}

/* Those of the folder's repositories. */
static const char *find_learned(const struct policy *p, const char *path)
{
	const char *rest;

	for (size_t i = 0; i < p->git_dirs.n; i++)
		if ((rest = path_below(path, p->git_dirs.list[i])))
			return fold_into(p, "", rest);
	return NULL;
}

const char *git_dirs_known(const struct policy *p, const char *path)
{
	const char *rest = find_learned(p, path);

	return rest ? rest : find_kept(p, path);
}

static bool is_one_of(const char *c, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (n && (*c | 0x20) == **list && strlen(*list) == n &&
		    strncasecmp(c, *list, n) == 0)
			return true;
	return false;
}

/* Cheap, and true rather too often: it is asked about every path that is written. */
static bool may_matter(const char *path)
{
	static const char *const leaves[] = {
		"config", "config.worktree", "commondir",  "gitdir",	      "index", "head",
		"hooks",  "git-rebase-todo", "alternates", "http-alternates", NULL};
	static const char *const dirs[] = {"hooks", "remotes", "branches", "gitweb", NULL};
	const char *leaf = strrchr(path, '/'), *dir;
	size_t n;

	if (!leaf || leaf == path)
		return false;
	dir = memrchr(path, '/', (size_t)(leaf - path));
	n = strlen(leaf + 1);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)leaf[1 + i] >= 0x80 || leaf[1 + i] == ':' || leaf[1 + i] == ' ')
			return true;
	if (is_one_of(leaf + 1, n, leaves) || strncasecmp(leaf + 1, "sharedindex.", 12) == 0)
		return true;
	return dir && is_one_of(dir + 1, (size_t)(leaf - dir - 1), dirs);
}

/* Does git find a repository there, or would it with one more name beside the HEAD? A HEAD is not
 * written without an answer, `objects` and `commondir` are. len bytes of path. */
static bool is_git_dir(const char *path, size_t len)
{
	AUTO_FREE char *head = xasprintf("%.*s/HEAD", (int)len, path);

	return faccessat(AT_FDCWD, head, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *git_dirs_find(const struct policy *p, const char *path)
{
	const char *at = path + strlen(path), *known = git_dirs_known(p, path);
	unsigned above;

	if (known)
		return known;
	if (!may_matter(path) || strcasestr(path, ".git/"))
		return NULL;
	above = git_path_suspect(fold_into(p, "", path));
	for (unsigned i = 0; i < above && at; i++)
		at = memrchr(path, '/', (size_t)(at - path));
	if (!above || !at || at == path || !is_git_dir(path, (size_t)(at - path)))
		return NULL;
	return fold_into(p, "", at + 1);
}

void git_dirs_add(struct policy *p, char *path)
{
	if (places_cover(&p->git_dirs, path))
		free(path);
	else
		places_add(&p->git_dirs, path);
}
