/* rollback - undo, redo and restore: refused without a change, or with the expected result. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/play.h"

/* Returns the flags for a second try after a refusal; 0: no second try. */
static unsigned flags_of(const struct act *a)
{
	static const unsigned flags[] = {UNDO_FORCE, UNDO_KEEP_MINE, UNDO_MERGE | UNDO_KEEP_MINE,
					 UNDO_MERGE | UNDO_FORCE};

	return a->y & 1 ? flags[a->y / 2 % ARRAY_LEN(flags)] : 0;
}

/* Checks that external edits are still there, except as the flags say. */
void check_settled(struct game *g, const struct expected *e, unsigned flags, const char *pre,
		   const char *what)
{
	if (flags & UNDO_FORCE || g->h.murky || g->h.contested || e->may_differ || !e->from)
		return;
	if (!tree_kept(e->from, pre, g->now, flags & UNDO_MERGE, g->quiet))
		fail(g, "%s: an edit that was to be kept is lost", what);
}

/* Undoes or redoes without and then, perhaps, with flags. Returns whether it happened; *pre is the
 * tree before. */
static bool roll(struct game *g, const struct act *a, const struct expected *e, unsigned *ret_flags)
{
	AUTO_FREE char *pre = xstrdup(g->now);
	const struct reply *re = &g->w.sh->reply;
	const char *what = act_name(a->kind);
	struct act try = *a;

	for (try.y = 0;; try.y = flags_of(a)) {
		if (worker_act(&g->w, &try) < 0) {
			crashed(g, &try, pre);
			return false;
		}
		free(g->now);
		g->now = look(g);
		if (re->r == 0)
			break;
		if (re->r != -ESTALE || try.y || !e->may_refuse) {
			fail(g, "%s: %s", what, re->words);
			return false;
		}
		must_be(g, pre, false, "refused");
		if (g->failed || !flags_of(a))
			return false;
	}
	*ret_flags = try.y;
	if (try.y)
		check_settled(g, e, try.y, pre, what);
	if (!e->may_differ && !(try.y & ~UNDO_KEEP_MINE) &&
	    !edits_kept(&g->h, e->since, pre, g->now, g->quiet))
		fail(g, "%s: what somebody wrote is gone%s", what,
		     try.y ? ", though it was to be kept" : "");
	if (e->may_differ || try.y)
		return true;
	if (e->tree)
		must_be(g, e->tree, e->loose, what);
	else if (!g->h.murky && e->from && e->to &&
		 !tree_carried(e->from, e->to, pre, g->now, g->quiet))
		fail(g, "%s: an edit is lost", what);
	return true;
}

void play_undo(struct game *g, const struct act *a)
{
	AUTO_FREE char *pre = xstrdup(g->now);
	struct act undo = *a;
	struct expected e = {0};
	unsigned flags;

	undo.x = MIN(MAX(a->x, 1), 99);
	if (g->h.n_kept)
		expect_undo(&g->h, undo.x, g->now, &e);
	if (e.n && roll(g, &undo, &e, &flags) && !g->failed) {
		history_undone(&g->h, e.n, pre, g->now, flags);
		check_lists(g);
	}
	free(e.tree);
}

void play_redo(struct game *g, const struct act *a)
{
	AUTO_FREE char *pre = xstrdup(g->now);
	struct expected e = {0};
	unsigned flags;

	if (g->h.n_redo)
		expect_redo(&g->h, g->now, &e);
	if (e.n && roll(g, a, &e, &flags) && !g->failed) {
		redo_split(&g->h, g->w.sh->reply.kept, g->w.sh->reply.n_kept);
		history_redone(&g->h, pre, g->now, flags, g->w.sh->reply.undone,
			       g->w.sh->reply.n_undone);
		check_lists(g);
	}
	free(e.tree);
}

/* Finds the step of a restore. Returns false if its trees are unknown. */
static bool restored_from(const struct game *g, const struct act *a, const char *pre,
			  struct restored *ret)
{
	const struct rung *r = &g->h.kept[g->h.n_kept - 1 - a->x % g->h.n_kept];

	*ret = (struct restored){.before = r->before,
				 .after = r->after,
				 .pre = pre,
				 .path = a->a,
				 .quiet = g->quiet};
	for (size_t i = 0; i < g->h.n_kept; i++)
		if (&g->h.kept[i] != r && g->h.kept[i].cluster == r->cluster)
			return false;
	return r->before && r->after && !r->loose && !r->gap && !r->halted &&
	       g->h.edited < r->begun;
}

void check_restored(struct game *g, const struct act *a, const char *pre)
{
	struct restored r;

	if (g->h.n_kept && restored_from(g, a, pre, &r) && !g->h.murky && !g->h.contested) {
		r.result = g->now;
		if (!tree_restored(&r))
			fail(g, "restore: not as it was before the step");
	}
}

/* Restores as a step of its own: only the path changes, and the step can be undone like any
 * other. */
void play_restore(struct game *g, const struct act *a)
{
	AUTO_FREE char *pre = xstrdup(g->now);
	const struct reply *re = &g->w.sh->reply;
	struct restored r;

	if (!g->h.n_kept)
		return;
	g->h.clock++;
	if (worker_act(&g->w, a) < 0) {
		crashed(g, a, pre);
		return;
	}
	free(g->now);
	g->now = look(g);
	if (re->r < 0) {
		must_be(g, pre, false, "a restore that failed");
		if (restored_from(g, a, pre, &r) && !g->h.murky && !g->h.contested &&
		    restore_is_due(&r))
			fail(g, "restore: %s", re->words);
		return;
	}
	check_restored(g, a, pre);
	if (re->n_kept == g->h.n_kept) {
		must_be(g, pre, true, "a restore of nothing");
		return;
	}
	redo_clear(&g->h);
	rung_add(&g->h, (struct rung){.id = re->kept[0],
				      .cluster = g->h.clusters++,
				      .begun = g->h.clock,
				      .ended = g->h.clock,
				      .before = xstrdup(pre),
				      .after = xstrdup(g->now)});
	check_lists(g);
}
