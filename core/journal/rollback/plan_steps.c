/* plan_steps - the planner's steps, and the entries of its plan. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/journal/edits.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/capture.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/roots.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/* ---- entries ----------------------------------------------------------------------------------
 */

void plan_entry_free(struct undo_entry *e)
{
	free(e->path);
	free(e->other);
	free(e->why);
	free(e->base);
	if (e->merge) {
		free(e->merge->now);
		free(e->merge->then);
		free(e->merge);
	}
}

void undo_plan_free(struct undo_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_entries; i++)
		plan_entry_free(&p->entries[i]);
	free(p->entries);
	barrier_free(p->barriers, p->n_barriers);
	free(p->ids);
	free(p);
}

void plan_entry(struct planner *p, int root, const char *path, char what, bool conflict)
{
	struct undo_plan *plan = p->plan;
	struct undo_entry *e;
	bool lost = path_set_has(&p->lost, root, path);

	if (plan->brief && !conflict && !lost)
		return;
	if (plan->n_entries % 64 == 0)
		plan->entries =
			xrealloc(plan->entries, (plan->n_entries + 64) * sizeof(*plan->entries));
	e = &plan->entries[plan->n_entries++];
	*e = (struct undo_entry){.root = root, .what = what, .own = root_is_own(p->j, root)};
	e->lost = lost;
	e->conflict = conflict = conflict || e->lost;
	e->beside = conflict && !e->lost && path_set_has(&p->overlaps, root, path);
	e->linked = conflict && path_set_has(&p->linked, root, path);
	e->path = xstrdup(path);
	if (conflict)
		plan->n_conflicts++;
}

bool undo_entry_elsewhere(const struct undo_plan *p, const struct undo_entry *e)
{
	return e->root > 0 && !e->own && e->fate == FATE_KEPT && p->kind == UNDO_BACK &&
	       !(p->flags & UNDO_ALL_PLACES);
}
