/* plan_trees - trees that the agent's Landlock domain may read, if every open is trapped. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/plan_priv.h"
#include "core/base/path.h"

static void add(const char ***list, size_t *n, const char *path)
{
	*list = xrealloc(*list, (*n + 2) * sizeof(**list));
	(*list)[(*n)++] = path;
	(*list)[*n] = NULL;
}

/* Adds all trees but the gated ones, granted trees beneath those, and the sandbox's own
 * directories. */
void plan_trees(struct plan *p, const struct spawn_spec *spec)
{
	const unsigned all = LANDLOCK_READ | LANDLOCK_EXEC;
	AUTO_FREE const char **closed = NULL, **open = NULL;
	size_t n_closed = 0, n_open = 0;

	for (size_t i = 0; i < p->n_gated; i++)
		add(&closed, &n_closed, p->gated[i]);
	for (size_t i = 0; i < p->n_granted; i++)
		add(&open, &n_open, p->granted[i]);
	trees_add(&p->trees, all, closed, open);
	for (size_t i = 0; i < p->trees.n; i++)
		if (path_is_in(p->trees.list[i].path, spec->overlays))
			p->trees.list[i].ino = 0; /* inside, the overlay has another inode number */
	for (size_t i = 0; i < p->n_writable; i++)
		trees_add_one(&p->trees, all, p->writable[i]);
	trees_sort(&p->trees);
}
