/* learn - other names of what is protected: links, gitfiles, and what git's settings name. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/learn.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"

/*
 * Protection goes by names. A name that is a link - .envrc, .vscode, a hook, .git itself - leads to
 * a file of another name, which is written without a question. So links of protected names are
 * followed, from the folder down, nearest directories first, and no more than DIRS_MAX of them:
 * 100 directories take about a millisecond of the start.
 */
#define DIRS_MAX  400
#define DEPTH_MAX 6

void policy_protect(struct policy *p, const char *path, const char *reason)
{
	AUTO_FREE char *clean = path_clean(path);

	for (size_t i = 0; i < p->n_guarded; i++)
		if (str_eq(p->guarded[i].path, clean))
			return;
	p->guarded = xrealloc(p->guarded, (p->n_guarded + 1) * sizeof(*p->guarded));
	p->guarded[p->n_guarded++] = (struct guarded){take_ptr(&clean), reason};
}

static bool in_folders(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->folders.n; i++)
		if (path_is_beneath(path, p->folders.list[i]) && !str_eq(path, p->folders.list[i]))
			return true;
	return false;
}

static void guard(struct policy *p, const char *path, const char *reason)
{
	if (in_folders(p, path) && builtin_write(p, POLICY_WRITE, path).verdict == POLICY_ALLOW)
		policy_protect(p, path, reason);
}

void learn_place(struct policy *p, const char *path, const char *reason)
{
	AUTO_FREE char *clean = path_clean(path);
	AUTO_FREE char *real = NULL;
	bool inside;

	guard(p, clean, reason);
	if (links_follow(clean, NULL, &real, &inside) == 0 && !str_eq(real, clean))
		guard(p, real, reason);
}

/* A link of a protected name. */
static void learn_link(struct policy *p, const char *path)
{
	struct builtin b = builtin_write(p, POLICY_WRITE, path);

	if (b.verdict == POLICY_VET || b.verdict == POLICY_ASK)
		learn_place(p, path, b.reason);
}

void learn_links(struct policy *p, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = e->d_type == DT_LNK ? path_join(dir, e->d_name) : NULL;

		if (path)
			learn_link(p, path);
	}
}

/* ---- the walk -------------------------------------------------------------------------------- */

struct walk {
	struct policy *p;
	struct places dirs; /* to be looked at, in that order */
	unsigned base;	    /* components of the folder */
};

/* What is large, and no place of the human's own. */
static bool is_skipped(const char *name)
{
	static const char *const names[] = {"node_modules", "__pycache__", "target", ".venv",
					    ".cordon",	    ".tox",	   ".cache"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

static void visit_entry(struct walk *w, const char *dir, const struct dirent *e)
{
	AUTO_FREE char *path = path_join(dir, e->d_name);

	if (str_eq(e->d_name, ".git"))
		learn_repository(w->p, dir);
	if (e->d_type == DT_LNK)
		learn_link(w->p, path);
	if (e->d_type != DT_DIR || is_skipped(e->d_name) || str_eq(e->d_name, ".git") ||
	    w->dirs.n >= DIRS_MAX || places_depth(path) > w->base + DEPTH_MAX)
		return;
	places_add(&w->dirs, take_ptr(&path));
}

/* HEAD and objects: a bare repository, below which nothing else is looked for. */
static bool is_bare(int fd)
{
	return faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	       faccessat(fd, "objects", F_OK, 0) == 0;
}

static void visit(struct walk *w, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	if (d && is_bare(dirfd(d))) {
		learn_bare(w->p, dir);
		return;
	}
	while (d && (e = readdir(d)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			visit_entry(w, dir, e);
}

void policy_learn(struct policy *p, const char *folder)
{
	struct walk w = {.p = p, .base = places_depth(folder)};

	if (!places_hold(&p->folders, folder))
		places_add(&p->folders, path_clean(folder));
	places_add(&w.dirs, path_clean(folder));
	for (size_t i = 0; i < w.dirs.n; i++)
		visit(&w, w.dirs.list[i]);
	places_done(&w.dirs);
}
