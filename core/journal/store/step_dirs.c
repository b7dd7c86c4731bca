/* step_dirs - a list of directories of steps below the store. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/step_dirs.h"

#include <stdlib.h>

#include "core/base/util.h"
#include "core/journal/store/store.h"

void step_dirs_done(struct step_dirs *g)
{
	store_names_free(g->dirs, g->n);
	*g = (struct step_dirs){0};
}

void step_dirs_add(struct step_dirs *g, char *dir)
{
	g->dirs = xrealloc(g->dirs, (g->n + 1) * sizeof(*g->dirs));
	g->dirs[g->n++] = dir;
}
