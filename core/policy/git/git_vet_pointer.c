/* git_vet_pointer - files of one line that lead git to another directory. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/os/text.h"
#include "core/policy/git/git_settings.h"
#include "core/policy/learn.h"

/*
 * Alternates aside, the files that `git worktree add W` and `git submodule add S` write, with T the
 * top of the repository:
 *
 *   T/W/.git                         gitdir: T/.git/worktrees/NAME
 *   T/.git/worktrees/NAME/gitdir     T/W/.git
 *   T/.git/worktrees/NAME/commondir  ../..
 *   T/S/.git                         gitdir: ../.git/modules/S
 *   T/.git/modules/S/config          core.worktree = ../../../S
 *
 * W may also lie elsewhere in a working folder, and the git directory may be that of a bare
 * repository or a submodule, if its name shows that: then its hooks and settings were guarded all
 * the time. In that case the two must name each other: git writes `gitdir` first. All else is
 * refused: a gitfile that points to another repository would run the hooks of that one, which may
 * be files that the agent wrote.
 */

/* A line that ends the text, without what ends it. */
static bool one_line(const char *data, size_t len, struct span *ret)
{
	while (len && (data[len - 1] == '\n' || data[len - 1] == '\r'))
		len--;
	*ret = (struct span){data, len};
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)data[i] < 0x20 || data[i] == 0x7f)
			return false;
	return len > 0;
}

/* Where the directory that holds `.git` ends in a path below it; 0: there is none, or several. */
static size_t top_of(const char *path, const char *below)
{
	AUTO_FREE char *want = xasprintf("/.git/%s/", below);
	const char *at = strstr(path, want), *other = strstr(path, "/.git/");

	return at && at == other && !strstr(at + 6, "/.git/") && at[strlen(want)]
		       ? (size_t)(at - path)
		       : 0;
}

/* path lies below the first n bytes of top, and no component of it is a git directory. */
static bool is_within(const char *path, const char *top, size_t n)
{
	return n && strncmp(path, top, n) == 0 && path[n] == '/' && !strstr(path + n, "/.git/");
}

/* Relative paths in the repository's settings (core.hooksPath, filters) begin at the worktree: what
 * they name there must not be there yet, and is protected from now on. */
static bool names_nothing(struct policy *p, const char *worktree, const char *git_dir)
{
	struct stat st;

	learn_worktree(p, worktree, git_dir);
	if (p->n_guarded > GUARDED_MAX)
		return false;
	for (size_t i = 0; i < p->n_guarded; i++)
		if (path_is_inside(p->guarded[i].path, worktree) &&
		    lstat(p->guarded[i].path, &st) == 0)
			return false;
	return true;
}

/* ---- worktrees ------------------------------------------------------------------------------- */

/* Is it GIT/worktrees/NAME, and is GIT in a working folder, and guarded? */
static bool is_of_repository(const struct policy *p, const char *path)
{
	const char *name = path_base(path);
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *git = path_dir(dir);
	const char *known;

	if (!*name || !str_eq(path_base(dir), "worktrees") || !places_cover(&p->folders, git))
		return false;
	known = git_dirs_known(p, git);
	return str_ends(git, ".git") || strstr(git, "/.git/modules/") || (known && !*known);
}

/* In a working folder, and in no git directory. */
static bool may_be_worktree(const struct policy *p, const char *dir)
{
	AUTO_FREE char *whole = path_join(dir, "");

	return places_cover(&p->folders, dir) && !strcasestr(whole, ".git/") &&
	       !git_dirs_known(p, dir);
}

/* GIT/worktrees/NAME/gitdir says that this is the worktree's gitfile. */
static bool names_back(const char *git_dir, const char *gitfile)
{
	AUTO_FREE char *back = git_pointer(git_dir, "gitdir", "");
	AUTO_FREE char *to = back ? path_clean(back) : NULL;

	return to && str_eq(to, gitfile);
}

/* "gitdir: WHERE" in DIR/.git. */
static bool is_gitfile_good(struct policy *p, const char *path, const char *where)
{
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *joined = path_join(dir, where);
	AUTO_FREE char *to = path_clean(joined);
	size_t top = MAX(top_of(to, "worktrees"), top_of(to, "modules"));
	const char *name = to + top + strlen("/.git/worktrees/");
	bool own = is_within(dir, to, top) && (!top_of(to, "worktrees") || !strchr(name, '/'));

	if (!own && !(is_of_repository(p, to) && may_be_worktree(p, dir) && names_back(to, path)))
		return false;
	return names_nothing(p, dir, to);
}

static bool is_gitdir_good(const struct policy *p, const char *path, const char *where)
{
	AUTO_FREE char *dir = path_dir(path);
	AUTO_FREE char *joined = path_join(dir, where);
	AUTO_FREE char *to = path_clean(joined);
	AUTO_FREE char *worktree = path_dir(to);

	return str_eq(path_base(to), ".git") && is_of_repository(p, dir) &&
	       may_be_worktree(p, worktree);
}

static bool is_commondir_good(const struct policy *p, const char *path, const char *where)
{
	AUTO_FREE char *dir = path_dir(path);

	return str_eq(where, "../..") && is_of_repository(p, dir);
}

/* ---- alternates ------------------------------------------------------------------------------ */

/* Returns whether it is the objects directory of a working folder's own repository, and no link
 * leads elsewhere: the agent may write there anyway. A repository further down may be the agent's
 * work, with the objects of any other. */
static bool is_objects_dir(const struct policy *p, const char *where)
{
	AUTO_FREE char *git = path_dir(where);
	AUTO_FREE char *top = path_dir(git);
	AUTO_FREE char *real = NULL;

	if (!str_eq(path_base(where), "objects") ||
	    (!places_has(&p->repositories, git) &&
	     (!str_eq(path_base(git), ".git") || !places_has(&p->folders, top))))
		return false;
	real = realpath(where, NULL);
	return !real || str_eq(real, where);
}

static bool are_alternates_good(const struct policy *p, const char *data, size_t len)
{
	AUTO_FREE char *text = xstrndup(data, len);
	char *at = text, *line;

	if (strlen(text) != len)
		return false;
	while ((line = strsep(&at, "\n")))
		if (*line && !is_objects_dir(p, line))
			return false;
	return true;
}

bool vet_git_pointer(struct policy *p, const char *path, const char *data, size_t len)
{
	static const char head[] = "gitdir: ";
	AUTO_FREE char *where = NULL;
	const char *leaf = path_base(path);
	struct span line;

	if (str_eq(leaf, "alternates"))
		return are_alternates_good(p, data, len);
	if (!one_line(data, len, &line))
		return false;
	where = xstrndup(line.data, line.len);
	if (str_eq(leaf, "commondir"))
		return is_commondir_good(p, path, where);
	if (str_eq(leaf, "gitdir"))
		return is_gitdir_good(p, path, where);
	return str_eq(leaf, ".git") && str_starts(where, head) &&
	       is_gitfile_good(p, path, where + strlen(head));
}

/* ---- core.worktree --------------------------------------------------------------------------- */

/* The next value of it; false: there is none. */
static bool next_worktree(struct vet_reader *r, struct span *ret)
{
	enum line_kind k;

	while ((k = vet_next(r)) != LINE_NONE) {
		*ret = (struct span){r->line.data, 0};
		if ((k == LINE_INERT || k == LINE_OTHER) && str_eq(r->section, "core") && !*r->sub)
			*ret = vet_value(r, "worktree");
		if (ret->len)
			return true;
	}
	return false;
}

static bool had(const char *old, size_t old_len, struct span value)
{
	struct vet_reader r = vet_reader_of(old, old ? old_len : 0);
	struct span was;

	while (next_worktree(&r, &was))
		if (was.len == value.len && memcmp(was.data, value.data, value.len) == 0)
			return true;
	return false;
}

/* A repository in which an agent keeps copies of a working folder. Its settings name nothing that
 * would begin at the worktree. */
static bool keeps_folder(const struct policy *p, const char *path, const char *to, const char *data,
			 size_t len)
{
	if (!git_dirs_kept(p, path) || !vet_git_config(data, len, NULL, 0))
		return false;
	for (size_t i = 0; i < p->folders.n; i++)
		if (str_eq(p->folders.list[i], to))
			return true;
	return false;
}

bool vet_git_worktree(const struct policy *p, const char *path, const char *old, size_t old_len,
		      const char *data, size_t len)
{
	struct vet_reader r = vet_reader_of(data, len);
	AUTO_FREE char *dir = path_dir(path);
	struct span value;

	while (next_worktree(&r, &value)) {
		AUTO_FREE char *where = xstrndup(value.data, value.len);
		AUTO_FREE char *joined = path_join(dir, where);
		AUTO_FREE char *to = path_clean(joined);

		if (!had(old, old_len, value) && !is_within(to, path, top_of(path, "modules")) &&
		    !keeps_folder(p, path, to, data, len))
			return false;
	}
	return true;
}
