/* plan - what an undo or redo would change, and its conflicts with external edits. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/edits.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"

#define JOINED '-' /* an entry that was joined to another one */

/*
 * The newest after-image of a path, of any step, has the state that the path should have now.
 * Another state is an external edit, and a conflict. It is a conflict, too, if the newest image is
 * of a concurrent step that stays. A directory that was renamed after the image was written takes
 * the paths below it along; and a directory to be removed may only hold entries that are removed
 * with it.
 */

/* ---- entries ----------------------------------------------------------------------------------
 */

static bool is_conflict(struct planner *p, const char *key)
{
	return path_set_has_key(&p->edited, key) || path_set_has_key(&p->overlaps, key);
}

/* Returns whether a path that the rollback removes is already gone: that is no conflict. */
static bool is_gone_already(const struct planner *p, const char *key)
{
	const char *path;
	int root = path_key_root(key, &path);
	struct object o;

	return !path_set_has_key(&p->overlaps, key) && !renames_touch(&p->moves, root, path) &&
	       reach_see(p->j, root, path, &o) == 0 && !o.mode;
}

/* Adds the paths without a net effect: moved elsewhere, or changed and changed back. */
static void add_conflicts(struct planner *p, const struct path_set *from)
{
	for (size_t k = 0; k < path_set_count(from); k++) {
		const char *path, *key = path_set_key(from, k);
		int root = path_key_root(key, &path);

		if (!net_effects_find(&p->fates, key) && path_set_add_key(&p->named, key))
			plan_entry(p, root, path, 'M', true);
	}
}

static void net_entries(struct planner *p)
{
	for (size_t k = 0; k < path_set_count(&p->fates.keys); k++) {
		const struct net_effect *n = &p->fates.list[k];
		bool exists_now = p->redo ? n->exists_before : n->exists_after;
		bool exists_then = p->redo ? n->exists_after : n->exists_before;
		const char *path, *key = path_set_key(&p->fates.keys, k);
		int root = path_key_root(key, &path);
		bool conflict = is_conflict(p, key);

		if (path_set_has(&p->idle, root, path) && !path_set_has(&p->places, root, path))
			continue;
		if (exists_now && exists_then)
			plan_entry(p, root, path, 'M', conflict);
		else if (exists_then)
			plan_entry(p, root, path, 'A', conflict);
		else if (exists_now)
			plan_entry(p, root, path, 'D', conflict && !is_gone_already(p, key));
		else if (conflict || path_set_has(&p->lost, root, path))
			plan_entry(p, root, path, 'M', true);
	}
	add_conflicts(p, &p->edited);
	add_conflicts(p, &p->lost);
	add_conflicts(p, &p->overlaps);
}

static int entry_by_path(const void *a, const void *b)
{
	const struct undo_entry *x = a, *y = b;

	return x->root != y->root ? x->root - y->root : strcmp(x->path, y->path);
}

static void sort_entries(struct undo_plan *plan)
{
	if (plan->n_entries)
		qsort(plan->entries, plan->n_entries, sizeof(*plan->entries), entry_by_path);
}

/* Finds an entry; the entries must be sorted. */
static struct undo_entry *find_entry(const struct undo_plan *plan, int root, const char *path)
{
	const struct undo_entry key = {.root = root, .path = (char *)(uintptr_t)path};

	return plan->n_entries ? bsearch(&key, plan->entries, plan->n_entries,
					 sizeof(*plan->entries), entry_by_path)
			       : NULL;
}

static void drop_entries(struct undo_plan *plan,
			 bool (*drops)(const struct undo_plan *plan, const struct undo_entry *e))
{
	size_t left = 0;

	for (size_t i = 0; i < plan->n_entries; i++)
		if (drops(plan, &plan->entries[i]))
			plan_entry_free(&plan->entries[i]);
		else
			plan->entries[left++] = plan->entries[i];
	plan->n_entries = left;
}

static bool is_joined(const struct undo_plan *plan, const struct undo_entry *e)
{
	(void)plan;
	return e->what == JOINED;
}

/* Returns whether the entry is the temporary file of a save in a granted place: x.tmp.1, renamed to
 * x. It does not exist, so the plan need not say that it stays. */
static bool has_carried_a_save(const struct undo_plan *plan, const struct undo_entry *e)
{
	return undo_entry_elsewhere(plan, e) && e->what == 'A' && path_saved_as(e->path);
}

static void forget_saves(struct undo_plan *plan)
{
	drop_entries(plan, has_carried_a_save);
	for (size_t i = 0; i < plan->n_entries; i++) {
		struct undo_entry *e = &plan->entries[i];

		if (e->what != 'R' || !undo_entry_elsewhere(plan, e) || !path_saved_as(e->other))
			continue;
		e->what = 'M'; /* the saved file stays, under its name */
		free(take_ptr(&e->other));
	}
}

/* Joins the entries A and D of a rename to one entry R, if there is only one step. */
static void join_renames(struct planner *p)
{
	struct undo_plan *plan = p->plan;

	if (p->dirs->n > 1)
		return;
	sort_entries(plan);
	for (size_t k = 0; k < path_set_count(&p->fates.keys); k++) {
		const char *from = p->fates.list[k].renamed_from, *to;
		int root = path_key_root(path_set_key(&p->fates.keys, k), &to);
		struct undo_entry *d = from ? find_entry(plan, root, p->redo ? from : to) : NULL;
		struct undo_entry *a = from ? find_entry(plan, root, p->redo ? to : from) : NULL;

		if (!a || !d || a->conflict || d->conflict || a->what != 'A' || d->what != 'D')
			continue;
		d->what = 'R';
		d->other = xstrdup(a->path);
		a->what = JOINED;
	}
	drop_entries(plan, is_joined);
}

/* ---- the plan ---------------------------------------------------------------------------------
 */

static int build(struct planner *p)
{
	struct undo_plan *plan = p->plan;
	int r = plan_read(p);

	store_forget_near(p->j);
	if (r == 0) {
		net_entries(p);
		join_renames(p);
		r = plan_check_dirs(p);
	}
	if (r == 0)
		sort_entries(plan);
	return r;
}

int plan_store(struct journal *j, const struct names *dirs, const struct undo_plan *like,
	       struct undo_plan **ret, struct resolution *remedy, struct err *err)
{
	struct planner p = {.j = j, .dirs = dirs, .redo = like->kind == UNDO_REDO, .err = err};
	int r;

	store_forget_near(j);
	p.plan = xcalloc(1, sizeof(*p.plan));
	p.plan->kind = like->kind;
	p.plan->n = like->n;
	p.plan->flags = like->flags;
	p.plan->brief = like->brief;
	p.logs = xcalloc(dirs->n, sizeof(*p.logs));
	for (size_t i = 0; i < dirs->n; i++)
		p.logs[i] = (struct undo_log)UNDO_LOG_NONE;
	r = build(&p);
	if (r == 0)
		r = plan_barriers(j, p.plan, &(struct emptied){dirs, p.logs, &p.moves, NULL});
	if (r < 0 && !(err && err->code))
		err_set(err, r, "read the steps to be %s%s", p.redo ? "redone" : "undone",
			store_advice(r));
	else if (r == 0)
		r = resolution_find(j, p.plan,
				    &(struct emptied){dirs, p.logs, &p.moves, &p.moved_edits},
				    remedy, err);
	if (r == 0)
		forget_saves(p.plan);
	if (r < 0)
		undo_plan_free(p.plan);
	else
		*ret = p.plan;
	plan_forget(&p);
	return r;
}
