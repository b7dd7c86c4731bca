/* names - a list of strings. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/util/names.h"

#include <stdlib.h>

void names_add(struct names *g, char *name)
{
	if (g->n % 64 == 0)
		g->list = xrealloc(g->list, (g->n + 64) * sizeof(*g->list));
	g->list[g->n++] = name;
}

void names_done(struct names *g)
{
	while (g->n)
		free(g->list[--g->n]);
	free(g->list);
	*g = (struct names){0};
}
