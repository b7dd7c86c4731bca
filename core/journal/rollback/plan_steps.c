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

size_t plan_place_of(const struct planner *p, int64_t id)
{
	size_t i = 0;

	while (i < p->dirs->n && atoll(strchr(p->dirs->list[i], '/') + 1) != id)
		i++;
	return i;
}

bool plan_has_step(const struct planner *p, int64_t id)
{
	return plan_place_of(p, id) < p->dirs->n;
}

/* IMAGE_PASSING in a redo: the step was redone earlier, and has images of the paths below a
 * directory that it renamed. */
bool plan_is_passing(const struct planner *p, const struct after_image *post)
{
	return (!post->kept || (p->redo && post->flags & IMAGE_PASSING)) &&
	       !plan_has_step(p, post->id) && post->obj.mode != OBJECT_UNSEEN;
}

static void find_written(struct planner *p)
{
	p->written = xcalloc(p->dirs->n, sizeof(*p->written));
	for (size_t i = 0; i < p->dirs->n; i++) {
		log_written(&p->logs[i], &p->written[i]);
		u64_set_sort(&p->written[i]);
	}
}

bool plan_has_written(struct planner *p, uint64_t ino)
{
	bool written = false;

	if (!p->written)
		find_written(p);
	for (size_t i = 0; i < p->dirs->n && !written; i++)
		written = u64_set_have(&p->written[i], ino);
	return written;
}

bool plan_only_found(struct planner *p, const struct after_image *post)
{
	size_t i = plan_place_of(p, post->id);

	if (!p->written)
		find_written(p);
	return i < p->dirs->n && !u64_set_have(&p->written[i], post->obj.ino);
}

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
