/* plan_barriers - finds the barriers that a rollback would cross. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/edits.h"
#include "core/journal/history.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

#define OWN_PATHS 8 /* paths that are named for each of the user's own steps */

/* Paths of the folder in the steps' records, by their recorded and their present names. */
struct touched {
	struct path_set paths;
	struct path_set moved; /* created, removed or renamed; each stands for all below it */
};

static void touch_name(struct touched *t, const struct emptied *e, const struct rec *r, int root,
		       const char *path)
{
	int root_now = root;
	AUTO_FREE char *now = renames_now(e->moves, r->seq, &root_now, path);

	if (root == 0)
		path_set_add(&t->paths, 0, path);
	if (root_now == 0)
		path_set_add(&t->paths, 0, now);
	if (rec_is_in_place(r))
		return;
	if (root == 0)
		path_set_add(&t->moved, 0, path);
	if (root_now == 0)
		path_set_add(&t->moved, 0, now);
}

static void touched_load(struct touched *t, const struct emptied *e)
{
	struct undo_log_walk at = {0};
	struct rec r;

	while (undo_log_walk(e->logs, e->dirs->n, &at, &r)) {
		if (rec_is_idle(&r))
			continue;
		touch_name(t, e, &r, r.root, r.path);
		if (r.path2[0])
			touch_name(t, e, &r, r.root2, r.path2);
	}
}

static bool touched_above(const struct touched *t, const char *path)
{
	AUTO_FREE char *above = xstrdup(path);

	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		if (path_set_has(&t->moved, 0, above))
			return true;
	}
	return false;
}

/* Returns whether a step changed a path below this one, a directory that was edited. */
static bool touched_below(const struct touched *t, const char *path)
{
	for (size_t i = 0; i < path_set_count(&t->paths); i++) {
		const char *one;

		path_key_root(path_set_key(&t->paths, i), &one);
		if (path_is_inside(one, path))
			return true;
	}
	return false;
}

/* Returns whether the barrier names a path of the steps, or may: not all paths of a large barrier
 * are known. Moves that path to the front, because messages name the first. */
static bool meets(const struct touched *t, struct barrier *b)
{
	for (size_t i = 0; i < b->n_paths; i++) {
		char *path = b->paths[i];

		if (!path_set_has(&t->paths, 0, path) && !touched_above(t, path) &&
		    !touched_below(t, path))
			continue;
		b->paths[i] = b->paths[0];
		b->paths[0] = path;
		return true;
	}
	return b->count > b->n_paths;
}

static bool is_after(const struct undo_plan *p, const struct barrier *b)
{
	for (size_t k = 0; k < p->n_ids; k++)
		if (b->after == p->ids[k])
			return true;
	return false;
}

/* Adds a barrier if the step in dir is the user's own. */
static void add_own(struct journal *j, struct undo_plan *p, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct summary s = {0};
	struct barrier b;

	if (fd < 0 || summary_load(fd, true, &s) < 0 || !step_is_yours(s.info.command)) {
		summary_done(&s);
		return;
	}
	b = (struct barrier){.first_us = s.info.began_us,
			     .last_us = s.info.ended_us,
			     .count = s.n,
			     .paths = xcalloc(OWN_PATHS, sizeof(*b.paths)),
			     .n_paths = MIN(s.n, (size_t)OWN_PATHS),
			     .after = s.info.id,
			     .own = true};
	for (size_t i = 0; i < b.n_paths; i++)
		b.paths[i] = xstrdup(s.changes[i].path);
	summary_done(&s);
	p->barriers[p->n_barriers++] = b;
}

int plan_barriers(struct journal *j, struct undo_plan *p, const struct emptied *e)
{
	struct touched touched = {0};
	struct barrier *list = NULL;
	size_t n = 0;
	int r = p->kind == UNDO_BACK ? journal_barriers(j, &list, &n, NULL) : 0;

	p->barriers = xcalloc(n + e->dirs->n + 1, sizeof(*p->barriers));
	for (size_t i = 0; i < e->dirs->n && p->kind == UNDO_BACK; i++)
		add_own(j, p, e->dirs->list[i]);
	if (n)
		touched_load(&touched, e);
	for (size_t i = 0; i < n; i++) {
		if (!is_after(p, &list[i]) || !meets(&touched, &list[i]))
			continue;
		p->barriers[p->n_barriers++] = list[i];
		list[i] = (struct barrier){0};
	}
	barrier_free(list, n);
	path_set_done(&touched.paths);
	path_set_done(&touched.moved);
	return r;
}
