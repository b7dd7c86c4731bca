/* plan - the trees that a sandbox without mounts may read, run and write. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/landlock/tier_priv.h"
#include "backends/linux/sandbox/plan_priv.h"

/* Closed trees: other programs' sockets, temporary files, devices, the kernel's tables. */
static const char *const shut[] = {"/tmp", "/var/tmp", "/run",	"/var/run",
				   "/dev", "/sys",     "/boot", NULL};

/* Paths in them that are harmless inside. */
static const char *const opened[] = {
	"/dev/null", "/dev/zero",	    "/dev/full",      "/dev/random",	     "/dev/urandom",
	"/dev/tty",  "/sys/devices/system", "/sys/kernel/mm", "/run/current-system",
};

static const char *const written[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"};

/* A list for trees_add(). Borrows its strings. */
struct places {
	const char **list;
	size_t n;
};

static void add(struct places *p, const char *path)
{
	p->list = xrealloc(p->list, (p->n + 2) * sizeof(*p->list));
	p->list[p->n++] = path;
	p->list[p->n] = NULL;
}

static bool is_folder(const struct spawn_spec *spec, const char *path)
{
	for (const char *const *f = spec->folders; f && *f; f++)
		if (str_eq(*f, path))
			return true;
	for (const char *const *f = spec->read_only; f && *f; f++)
		if (str_eq(*f, path))
			return true;
	return false;
}

static void add_shut(struct places *closed, const struct plan *p, const struct spawn_spec *spec)
{
	for (const char *const *s = shut; *s; s++)
		if (!is_folder(spec, *s))
			add(closed, *s);
	add(closed, "/proc"); /* the door opens its files (backends/linux/door/proc_files.h) */
	for (size_t i = 0; i < p->n_gated; i++)
		add(closed, p->gated[i]);
}

static void add_open(struct places *open, const struct plan *p, const struct spawn_spec *spec)
{
	for (size_t i = 0; i < ARRAY_LEN(opened); i++)
		add(open, opened[i]);
	for (size_t i = 0; i < p->n_granted; i++)
		add(open, p->granted[i]);
	for (const char *const *f = spec->folders; f && *f; f++)
		add(open, *f);
	for (const char *const *f = spec->read_only; f && *f; f++)
		add(open, *f);
	add(open, p->own);
	if (spec->cache)
		add(open, spec->cache);
}

/*
 * Makes the lists of readable trees. Landlock requires the right to read for execution. So a new
 * file beside a hidden one can be read, by way of the door, but cannot be executed in this session.
 */
static void make_trees(struct plan *p, const struct spawn_spec *spec)
{
	struct places closed = {0}, open = {0};
	AUTO_FREE char *resolv = spec->allow_network ? realpath("/etc/resolv.conf", NULL) : NULL;
	struct stat st;

	add_shut(&closed, p, spec);
	add_open(&open, p, spec);
	if (resolv)
		add(&open, resolv);
	for (size_t i = 0; i < p->n_probes; i++)
		if (lstat(p->probes[i].path, &st) == 0)
			add(&closed, p->probes[i].path);
	trees_add(&p->trees, LANDLOCK_READ | LANDLOCK_EXEC, closed.list, open.list);
	trees_sort(&p->trees);
	free(closed.list);
	free(open.list);
}

static void push_all(struct plan *p, const char *const *list)
{
	for (; list && *list; list++)
		plan_push(&p->sealed, &p->n_sealed, &p->cap_sealed, *list);
}

int tier_plan(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	int r;

	/* Also in static mode: without mounts only the door can hide a path. */
	p->read = READ_TRAP;
	p->shut = shut;
	r = plan_find_gates(p, spec, err);
	if (r == 0)
		r = plan_find_hidden(p, spec, err);
	if (r == 0)
		r = temp_dir_own(p, spec, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_probes; i++)
		p->probes[i].blank = true; /* their names are visible */
	make_trees(p, spec);
	for (size_t i = 0; i < ARRAY_LEN(written); i++)
		plan_push(&p->writable, &p->n_writable, &p->cap_writable, written[i]);
	plan_push(&p->writable, &p->n_writable, &p->cap_writable, p->own);
	if (spec->cache)
		plan_push(&p->writable, &p->n_writable, &p->cap_writable, spec->cache);
	push_all(p, spec->folders);
	push_all(p, spec->read_only);
	push_all(p, (const char *const[]){"/tmp", spec->home, NULL});
	return 0;
}
