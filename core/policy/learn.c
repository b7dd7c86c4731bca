/* learn - other names of what is protected: links, gitfiles, and what git's settings name. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/learn.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/path.h"

/*
 * Protection goes by names. A name that is a link - .envrc, .vscode, a hook, .git itself - leads to
 * a file of another name, which is written without a question. So links of protected names are
 * followed, from the folder down, nearest directories first: a directory takes about 20 us. The
 * start does not wait for a large or a cold tree; the rest is looked at while the session runs, one
 * directory with each change.
 */
#define DIRS_MAX    4000
#define ENTRIES_MAX 200000
#define START_DIRS  8 /* these at least, then as many as */
#define START_US    1000

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

/* The links on the way: who may lead one elsewhere need not write to where it leads. Heap; NULL: it
 * leads nowhere. */
static char *guard_links(struct policy *p, const char *path, const char *reason)
{
	struct places passed = {0};
	char *real = NULL;
	bool inside;

	if (links_follow_each(path, NULL, &passed, &real, &inside) < 0)
		real = NULL;
	for (size_t i = 0; i < passed.n; i++)
		guard(p, passed.list[i], reason);
	places_done(&passed);
	return real;
}

void learn_way(struct policy *p, const char *path, const char *reason)
{
	free(guard_links(p, path, reason));
}

void learn_place(struct policy *p, const char *path, const char *reason)
{
	AUTO_FREE char *clean = path_clean(path);
	AUTO_FREE char *real = NULL;

	guard(p, clean, reason);
	real = guard_links(p, clean, reason);
	if (real && !str_eq(real, clean))
		guard(p, real, reason);
}

void policy_learn_link(struct policy *p, const char *path)
{
	struct builtin b = builtin_write(p, POLICY_WRITE, path);

	if (b.verdict == POLICY_VET || b.verdict == POLICY_ASK)
		learn_place(p, path, b.reason);
}

static unsigned char type_of(const char *dir, const struct dirent *e)
{
	AUTO_FREE char *path = NULL;
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	path = path_join(dir, e->d_name);
	return lstat(path, &st) < 0 ? DT_UNKNOWN : IFTODT(st.st_mode);
}

void learn_links(struct policy *p, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = type_of(dir, e) == DT_LNK ? path_join(dir, e->d_name) : NULL;

		if (path)
			policy_learn_link(p, path);
	}
}

/* ---- the walk -------------------------------------------------------------------------------- */

struct walk {
	struct places dirs; /* to be looked at, in that order */
	size_t next;
	unsigned left; /* entries to be looked at */
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

static void visit_entry(struct policy *p, const char *dir, const struct dirent *e)
{
	struct places *dirs = &p->walk->dirs;
	const unsigned char type = type_of(dir, e);
	AUTO_FREE char *path = NULL;

	if (str_eq(e->d_name, ".git"))
		learn_repository(p, dir);
	if (type != DT_LNK && type != DT_DIR)
		return;
	path = path_join(dir, e->d_name);
	if (type == DT_LNK)
		policy_learn_link(p, path);
	if (type != DT_DIR || is_skipped(e->d_name) || str_eq(e->d_name, ".git") ||
	    dirs->n >= DIRS_MAX)
		return;
	places_add(dirs, take_ptr(&path));
}

/* HEAD and objects: a bare repository, below which nothing else is looked for. */
static bool is_bare(int fd)
{
	return faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	       faccessat(fd, "objects", F_OK, 0) == 0;
}

static void visit(struct policy *p, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	if (d && is_bare(dirfd(d))) {
		learn_bare(p, dir);
		return;
	}
	while (d && p->walk->left && (e = readdir(d))) {
		p->walk->left--;
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			visit_entry(p, dir, e);
	}
}

bool policy_learn_more(struct policy *p)
{
	struct walk *w = p->walk;

	if (!w)
		return false;
	if (w->next < w->dirs.n) {
		AUTO_FREE char *dir = xstrdup(w->dirs.list[w->next++]);

		visit(p, dir);
	}
	if (w->next < w->dirs.n)
		return true;
	learn_done(p);
	return false;
}

void learn_done(struct policy *p)
{
	if (p->walk)
		places_done(&p->walk->dirs);
	free(take_ptr(&p->walk));
}

bool policy_learn(struct policy *p, const char *folder)
{
	const int64_t end = clock_mono_us() + START_US;
	size_t before;

	if (!p->walk)
		p->walk = xcalloc(1, sizeof(*p->walk));
	p->walk->left = ENTRIES_MAX;
	before = p->walk->next;
	if (!places_hold(&p->folders, folder))
		places_add(&p->folders, path_clean(folder));
	places_add(&p->walk->dirs, path_clean(folder));
	while (policy_learn_more(p))
		if (p->walk->next - before >= START_DIRS && clock_mono_us() > end)
			return true;
	return false;
}
