/* plan_gates - dynamic mode: gated trees, and granted trees beneath them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/linux/sandbox/plan_priv.h"
#include "core/base/path.h"

static bool is_beneath_one(char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		if (path_is_beneath(path, list[i]))
			return true;
	}
	return false;
}

/* Returns whether the path is a folder or overlay, which shows as a whole despite the gates. */
static bool is_folder(const struct spawn_spec *spec, const char *path)
{
	return path_is_in(path, spec->folders) || path_is_in(path, spec->read_only) ||
	       path_is_in(path, spec->overlays);
}

/*
 * Returns whether a mount or Landlock rule suits the granted path. Both are about an inode, and
 * most programs save a file by renaming a new one over it. So single files are left to the door,
 * which checks names; except programs without a mount, which need a Landlock rule to run.
 */
static bool is_for_good(const struct plan *p, const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return p->read == READ_TRAP && st->st_mode & 0111;
	return S_ISDIR(st->st_mode) || S_ISSOCK(st->st_mode);
}

static void grant(struct plan *p, const char *const *list)
{
	struct stat st;

	for (; list && *list; list++) {
		if (is_beneath_one(p->gated, p->n_gated, *list) && lstat(*list, &st) == 0 &&
		    is_for_good(p, &st))
			plan_push(&p->granted, &p->n_granted, &p->cap_granted, *list);
	}
}

static void grant_one(struct plan *p, const char *path)
{
	if (path && is_beneath_one(p->gated, p->n_gated, path))
		plan_push(&p->granted, &p->n_granted, &p->cap_granted, path);
}

/* Grants cordon's own program, for `cordon step` and front ends inside, and the libraries that
 * `make dist` installs beside it. */
static void grant_self(struct plan *p, const char *tools)
{
	AUTO_FREE char *self = realpath("/proc/self/exe", NULL);
	AUTO_FREE char *beside = NULL;
	AUTO_FREE char *libraries = NULL;

	if (!self)
		return;
	beside = xasprintf("%.*s../lib/cordon", (int)(path_base(self) - self), self);
	libraries = realpath(beside, NULL);
	grant_one(p, self);
	grant_one(p, libraries);
	grant_one(p, tools);
}

static void sort_grants(struct plan *p)
{
	size_t kept = 0;

	if (p->n_granted)
		qsort(p->granted, p->n_granted, sizeof(*p->granted), util_by_text);
	for (size_t i = 0; i < p->n_granted; i++) {
		if (is_beneath_one(p->granted, kept, p->granted[i]))
			free(p->granted[i]);
		else
			p->granted[kept++] = p->granted[i];
	}
	p->n_granted = kept;
}

int plan_find_gates(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	struct stat st;

	if (p->read == READ_NATIVE)
		return 0;
	for (const char *const *g = spec->gated; g && *g; g++) {
		if (is_folder(spec, *g) || plan_is_private(*g) || lstat(*g, &st) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (str_eq(*g, "/"))
			return err_say(err, -EINVAL, "'/' cannot be gated");
		plan_push(&p->gated, &p->n_gated, &p->cap_gated, *g);
	}
	if (p->n_gated > GATES_MAX)
		return err_say(
			err, -E2BIG,
			"%zu places ask before they are read (homes, disks, what others keep "
			"in /var; one is '%s'), and no more than %d can: unmount some, or "
			"start with --mode static, which asks about none",
			p->n_gated, p->gated[p->n_gated - 1], GATES_MAX);
	grant(p, spec->granted);
	grant(p, spec->folders);
	grant(p, spec->read_only);
	grant(p, spec->overlays);
	grant(p, spec->sockets);
	grant_self(p, spec->tools);
	sort_grants(p);
	return 0;
}

bool plan_is_gate(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->n_gated; i++) {
		if (str_eq(p->gated[i], path))
			return true;
	}
	return false;
}

bool plan_is_covered(const struct plan *p, const char *path)
{
	return p->read == READ_FUSE && is_beneath_one(p->gated, p->n_gated, path);
}

bool plan_is_gated(const struct plan *p, const char *path)
{
	return is_beneath_one(p->gated, p->n_gated, path) &&
	       !is_beneath_one(p->granted, p->n_granted, path);
}

bool plan_leads_to_grant(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->n_granted; i++) {
		if (path_is_beneath(p->granted[i], path))
			return true;
	}
	return false;
}

void plan_gates(struct plan *p)
{
	if (p->read != READ_FUSE)
		return;
	for (size_t i = 0; i < p->n_gated; i++)
		plan_add(p, PLAN_GATE, p->gated[i], NULL);
}

/* Binds granted trees. plan.c itself binds working folders and the like. */
void plan_grants(struct plan *p, const struct spawn_spec *spec)
{
	struct stat st;

	if (p->read != READ_FUSE)
		return;
	for (size_t i = 0; i < p->n_granted; i++) {
		const char *path = p->granted[i];
		struct plan_op *op;

		if (plan_is_hidden(p, path) || is_folder(spec, path) || lstat(path, &st) < 0)
			continue;
		op = plan_add(p, PLAN_BIND, path, path);
		op->dir = S_ISDIR(st.st_mode);
		op->granted = true;
		op->optional = true; /* if it is gone by then, the gate asks */
		if (op->dir)
			plan_push(&p->sealed, &p->n_sealed, &p->cap_sealed, path);
	}
}
