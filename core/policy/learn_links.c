/* learn_links - protects the files that links of protected names lead to. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/learn.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "core/base/path.h"

void policy_protect(struct policy *p, const char *path, const char *reason, bool keep)
{
	AUTO_FREE char *clean = path_clean(path);

	for (size_t i = 0; i < p->n_guarded; i++) {
		if (str_eq(p->guarded[i].path, clean)) {
			p->guarded[i].keep |= keep;
			return;
		}
	}
	p->guarded = xrealloc(p->guarded, (p->n_guarded + 1) * sizeof(*p->guarded));
	p->guarded[p->n_guarded++] = (struct guarded){take_ptr(&clean), reason, keep};
}

static bool in_folders(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->folders.n; i++)
		if (path_is_beneath(path, p->folders.list[i]) && !str_eq(path, p->folders.list[i]))
			return true;
	return false;
}

/* Where a guarded file must not be removed. */
enum keep {
	KEEP_NOT,
	KEEP_IN_FOLDERS,
	KEEP_ANYWHERE,
};

static void guard(struct policy *p, const char *path, const char *reason, enum keep keep)
{
	enum policy_verdict v = check_builtin_write(p, POLICY_WRITE, path).verdict;

	if ((keep ? v != POLICY_HIDE : v == POLICY_ALLOW) &&
	    (keep == KEEP_ANYWHERE || in_folders(p, path)))
		policy_protect(p, path, reason, keep != KEEP_NOT);
}

/* Protects the links on the path: a process that redirects one need not write to its target.
 * Returns the target, on the heap, or NULL if there is none. */
static char *guard_links(struct policy *p, const char *path, const char *reason, enum keep keep)
{
	struct places passed = {0};
	char *real = NULL;
	bool inside;

	if (links_follow_each(path, NULL, &passed, &real, &inside) < 0)
		real = NULL;
	for (size_t i = 0; i < passed.n; i++)
		guard(p, passed.list[i], reason, keep);
	places_done(&passed);
	return real;
}

void learn_way(struct policy *p, const char *path, const char *reason)
{
	free(guard_links(p, path, reason, KEEP_NOT));
}

static void learn_place(struct policy *p, const char *path, const char *reason, enum keep keep)
{
	AUTO_FREE char *clean = path_clean(path);
	AUTO_FREE char *real = NULL;

	guard(p, clean, reason, keep);
	real = guard_links(p, clean, reason, keep);
	if (real && !str_eq(real, clean))
		guard(p, real, reason, keep);
}

void policy_learn_place(struct policy *p, const char *path, const char *reason)
{
	learn_place(p, path, reason, KEEP_NOT);
}

void policy_keep_place(struct policy *p, const char *path, const char *reason)
{
	learn_place(p, path, reason, KEEP_ANYWHERE);
}

void policy_keep_way(struct policy *p, const char *path, const char *reason)
{
	free(guard_links(p, path, reason, KEEP_ANYWHERE));
}

/* Returns whether a question precedes the removal of such a file, or of one in such a directory. */
static bool is_kept(const struct policy *p, const char *path, bool tree)
{
	AUTO_FREE char *within = tree ? path_join(path, "file") : xstrdup(path);

	return check_builtin_write(p, POLICY_REMOVE, within).verdict == POLICY_ASK;
}

void policy_learn_link(struct policy *p, const char *path)
{
	/* A link stands for a directory, which can be protected where a plain file of that name is
	 * not. */
	const bool tree = protect_is_tree(path_base(path));
	const enum policy_act act = tree ? POLICY_SYMLINK : POLICY_WRITE;
	struct builtin b = check_builtin_write(p, act, path);

	if (b.verdict == POLICY_VET || b.verdict == POLICY_ASK)
		learn_place(p, path, b.reason, is_kept(p, path, tree) ? KEEP_IN_FOLDERS : KEEP_NOT);
}

unsigned char learn_type(const char *dir, const struct dirent *e)
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
		AUTO_FREE char *path =
			learn_type(dir, e) == DT_LNK ? path_join(dir, e->d_name) : NULL;

		if (path)
			policy_learn_link(p, path);
	}
}
