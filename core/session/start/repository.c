/* repository - git directories outside the working folders that belong to these. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/policy/git/git_settings.h"
#include "core/policy/policy.h"

#define CONFIG_MAX (256u << 10)

/* ---- pointers -------------------------------------------------------------------------------- */

/* Returns whether GIT/gitdir, as `git worktree add` writes it, names this folder's `.git`. */
static bool names_worktree(const char *git_dir, const char *folder)
{
	AUTO_FREE char *dot = git_pointer(git_dir, "gitdir", "");
	AUTO_FREE char *real = NULL;
	char *slash = dot ? strrchr(dot, '/') : NULL;

	if (!slash || !str_eq(slash, "/.git"))
		return false;
	*slash = '\0';
	real = realpath(*dot ? dot : "/", NULL);
	return real && str_eq(real, folder);
}

struct search {
	const char *git_dir, *folder;
	bool found;
};

static void look_at_setting(void *data, const char *section, const char *name, const char *value)
{
	struct search *s = data;
	AUTO_FREE char *path = NULL, *real = NULL;

	if (!value || !str_eq(section, "core") || !str_eq(name, "worktree"))
		return;
	path = path_join(s->git_dir, value);
	real = realpath(path, NULL);
	s->found = real && str_eq(real, s->folder);
}

/* Returns whether the configuration of a submodule's git directory names this folder. */
static bool names_checkout(const char *git_dir, const char *folder)
{
	struct search s = {.git_dir = git_dir, .folder = folder};
	AUTO_FREE char *path = path_join(git_dir, "config");
	AUTO_FREE char *text = NULL;

	if (io_read_file(AT_FDCWD, path, CONFIG_MAX, &text, NULL) == 0)
		git_each_setting(text, look_at_setting, &s);
	return s.found;
}

/* ---- one folder ------------------------------------------------------------------------------ */

/* Returns whether it is a git directory of this user: the agent gets no one else's. */
static bool is_mine(const char *common)
{
	struct stat st;

	return stat(common, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       io_has(common, "HEAD") && io_has(common, "objects");
}

/* Returns whether git_dir is COMMON/worktrees/NAME. */
static bool is_worktree_of(const char *git_dir, const char *common)
{
	const char *below = path_below(git_dir, common);

	return below && str_starts(below, "worktrees/") && !strchr(below + 10, '/');
}

static bool belongs(const struct repository *r, const char *folder)
{
	if (!is_mine(r->common))
		return false;
	if (str_eq(r->git_dir, r->common))
		return names_checkout(r->git_dir, folder);
	return is_worktree_of(r->git_dir, r->common) && names_worktree(r->git_dir, folder);
}

enum repository_kind repository_find(struct repository *ret, const char *folder)
{
	AUTO_FREE char *pointer = git_pointer(folder, ".git", "gitdir:");
	AUTO_FREE char *shared = NULL;

	*ret = (struct repository){0};
	if (!pointer)
		return REPOSITORY_INSIDE;
	ret->git_dir = realpath(pointer, NULL);
	if (!ret->git_dir)
		return REPOSITORY_GONE;
	shared = git_pointer(ret->git_dir, "commondir", "");
	ret->common = shared ? realpath(shared, NULL) : NULL;
	if (!ret->common)
		ret->common = xstrdup(ret->git_dir);
	if (path_is_beneath(ret->git_dir, folder) && path_is_beneath(ret->common, folder))
		return REPOSITORY_INSIDE;
	return belongs(ret, folder) ? REPOSITORY_OWN : REPOSITORY_STRANGE;
}

void repository_done(struct repository *r)
{
	free(r->git_dir);
	free(r->common);
	*r = (struct repository){0};
}

char *repository_above(const char *folder, const char *home)
{
	char *dir = xstrdup(folder);

	while (!str_eq(dir, "/") && !path_is_beneath(home, dir)) {
		char *up;

		if (io_has(dir, ".git")) {
			if (!str_eq(dir, folder))
				return dir;
			break;
		}
		up = path_dir(dir);
		free(dir);
		dir = up;
	}
	free(dir);
	return NULL;
}

/* ---- a session's ----------------------------------------------------------------------------- */

static void add(char ***list, size_t *n, const char *path)
{
	for (size_t i = 0; i < *n; i++)
		if (str_eq((*list)[i], path))
			return;
	util_list_push(list, n, xstrdup(path));
}

static bool is_left_out(const struct repositories *r, const char *common,
			const char *const *folders, const char *const *const *others,
			size_t n_others)
{
	const char *const *taken = (const char *const *)r->common;

	if (path_meets(common, folders) ||
	    (!path_is_in(common, taken) && path_meets(common, taken)))
		return true;
	for (size_t i = 0; i < n_others; i++)
		if (path_is_in(common, others[i]))
			return true;
	return false;
}

static bool is_denied(const struct policy *p, const char *dir)
{
	AUTO_FREE char *head = path_join(dir, "HEAD");
	const char *why;

	return policy_check_read(p, RULE_READ, dir, &why) >= POLICY_DENY ||
	       policy_check_read(p, RULE_READ, head, &why) >= POLICY_DENY;
}

/* Returns whether rules deny the repository. Reads them at the first repository only, as most
 * folders have none outside. A faulty rule stops the session later. */
static bool rules_deny(struct policy **p, const struct policy_spec *about,
		       const struct repository *r)
{
	struct err ignored = {0};

	if (!*p && policy_new(p, about, &ignored) < 0)
		return false;
	return is_denied(*p, r->common) || is_denied(*p, r->git_dir);
}

void repositories_find(struct repositories *ret, const struct policy_spec *about,
		       const char *const *const *others, size_t n_others)
{
	struct policy *p = NULL;

	*ret = (struct repositories){0};
	for (size_t i = 0; about->folders[i]; i++) {
		CLEANUP(repository_done) struct repository r;

		if (repository_find(&r, about->folders[i]) != REPOSITORY_OWN ||
		    is_left_out(ret, r.common, about->folders, others, n_others))
			continue;
		if (rules_deny(&p, about, &r)) {
			add(&ret->denied, &ret->n_denied, r.common);
			continue;
		}
		add(&ret->common, &ret->n_common, r.common);
		add(&ret->git_dirs, &ret->n_git_dirs, r.git_dir);
	}
	policy_free(p);
}

void repositories_done(struct repositories *r)
{
	util_free_list(&r->common);
	util_free_list(&r->git_dirs);
	util_free_list(&r->denied);
	*r = (struct repositories){0};
}
