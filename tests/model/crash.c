/* crash - after a kill of the worker: recovery must lead to the tree before or after the act. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/journal.h"
#include "tests/model/play.h"

/* Counts the stores in which the step is open. *ret_rolling: one of them has a rollback in
 * progress. */
static size_t open_parts(const struct game *g, int64_t id, bool *ret_rolling)
{
	const char *folders[] = {g->w.folder, g->w.second};
	size_t n = 0;

	*ret_rolling = false;
	for (size_t i = 0; i < ARRAY_LEN(folders) && folders[i]; i++) {
		struct journal_spec spec = {.folder = folders[i], .state_dir = g->w.state};
		AUTO_FREE char *store = NULL, *dir = NULL, *rolling = NULL;

		if (journal_store_path(&store, &spec, NULL) < 0)
			abort();
		dir = xasprintf("%s/open/%lld", store, (long long)id);
		rolling = xasprintf("%s/rollback", store);
		n += access(dir, F_OK) == 0;
		*ret_rolling |= access(rolling, F_OK) == 0;
	}
	return n;
}

void drop_begins(struct game *g, int64_t id)
{
	bool rolling;

	g->parts = open_parts(g, id, &rolling);
}

/* Returns whether, at the kill, the step was being rolled back alone, or already was. Before the
 * next start. */
static bool drop_began(const struct game *g, int64_t id)
{
	bool rolling;

	return open_parts(g, id, &rolling) != g->parts || rolling;
}

/* Opens the journal again; some of these recoveries are killed as well. */
static bool restart(struct game *g)
{
	int r;

	do {
		if (g->kills) {
			g->kills--;
			g->kill_seed = g->kill_seed * 1103515245 + 12345;
			worker_doom(&g->w,
				    1 + (g->kill_seed >> 8) % (1u << (g->kill_seed >> 24) % 10),
				    (g->kill_seed >> 16) % 3 ? 0 : (g->kill_seed >> 8) % 3000);
		}
		r = worker_start(&g->w);
		g->h.halted |= r == -EPIPE;
		if (g->w.traced)
			trace_end(&g->w);
	} while (r == -EPIPE);
	if (r < 0)
		fail(g, "recovery: %s", g->w.sh->reply.words);
	free(g->now);
	g->now = look(g);
	return r == 0;
}

/* Checks that a rollback happened completely or not at all; with two folders, in each of them. */
static void half_rolled(struct game *g, const struct act *a, const char *pre)
{
	const struct reply *re = &g->w.sh->reply;
	bool redo = a->kind == ACT_REDO;
	const struct rung *rungs;
	struct expected e;
	size_t moved = 0;

	if (redo)
		redo_split(&g->h, re->kept, re->n_kept);
	if (redo)
		expect_redo(&g->h, pre, &e);
	else
		expect_undo(&g->h, a->x, pre, &e);
	rungs = redo ? g->h.redo[g->h.n_redo - 1].rungs : &g->h.kept[g->h.n_kept - e.n];
	for (size_t i = 0; i < e.n; i++)
		moved += in_list(redo ? re->kept : re->undone, redo ? re->n_kept : re->n_undone,
				 rungs[i].id);
	if (g->h.pair && (is_apart(g) || (moved && moved < e.n)))
		play_apart(g, pre, a->y || e.may_differ ? NULL : e.tree);
	else if (moved && moved < e.n)
		fail(g, "killed in %s: a part of the steps has moved", act_name(a->kind));
	else if (!moved)
		must_be(g, pre, false, "killed before the end, and put back");
	else if (e.tree && !e.may_differ && !a->y)
		must_be(g, e.tree, e.loose, "killed, and gone on with");
	else if (a->y)
		check_settled(g, &e, a->y, pre, "killed, and gone on with");
	if (moved && !g->failed && !g->apart && redo)
		history_redone(&g->h, pre, g->now, a->y, re->undone, re->n_undone);
	else if (moved && !g->failed && !g->apart)
		history_undone(&g->h, e.n, pre, g->now, a->y);
	free(e.tree);
}

/* Adds undone steps that the model does not know: the worker died before it reported their
 * numbers. */
static size_t add_unknown(const struct game *g, int64_t *ids, size_t n, size_t max)
{
	const struct reply *re = &g->w.sh->reply;

	for (size_t i = 0; i < re->n_undone && n < max; i++)
		if (!history_has_undone(&g->h, re->undone[i]) && !in_list(ids, n, re->undone[i]))
			ids[n++] = re->undone[i];
	return n;
}

static void half_begun(struct game *g, const char *pre)
{
	int64_t id;

	must_be(g, pre, false, "killed while nothing was open");
	if (!g->failed && add_unknown(g, &id, 0, 1))
		history_recovered(&g->h, &id, 1, g->h.clock, g->now);
}

static void half_pruned(struct game *g, const struct act *a, const char *pre)
{
	size_t n = g->w.sh->reply.n_kept;

	must_be(g, pre, false, "killed in a prune");
	if (n < MIN(a->x, g->h.n_kept))
		fail(g, "killed in a prune: %zu steps are left", n);
	else
		history_pruned(&g->h, n);
}

static void half_restored(struct game *g, const struct act *a, const char *pre)
{
	const struct reply *re = &g->w.sh->reply;
	int64_t id;

	if (!redo_sync(&g->h, re->undone, re->n_undone))
		fail(g, "killed in a restore: a part of what could be redone is left");
	if (re->n_kept > g->h.n_kept) {
		check_restored(g, a, pre);
		rung_add(&g->h, (struct rung){.id = re->kept[0],
					      .cluster = g->h.clusters++,
					      .begun = g->h.clock,
					      .ended = g->h.clock,
					      .before = xstrdup(pre),
					      .after = xstrdup(g->now)});
		return;
	}
	must_be(g, pre, true, "killed in a restore");
	if (!g->failed && add_unknown(g, &id, 0, 1))
		history_recovered(&g->h, &id, 1, g->h.clock, g->now);
}

/* All steps are rolled back. If one was dropped alone, the others may restore a part of it. */
static void all_rolled(struct game *g, bool apart)
{
	if (apart && !trees_equal_loosely(g->cluster.before, g->now))
		g->cluster.unknown = g->h.murky = true;
	else
		must_be(g, g->cluster.before, apart, "killed, and rolled back");
}

/* Open steps are rolled back; or a step that was just committed is kept. apart: one was being
 * dropped alone. */
static void half_done(struct game *g, const struct act *a, const char *pre, bool apart)
{
	const struct reply *re = &g->w.sh->reply;
	int64_t recovered[WHO_MAX + 1];
	bool alone = g->cluster.n_begun == 1, landed = false, dropped = false;
	long begun = LONG_MAX;
	size_t n = 0;

	if (!redo_sync(&g->h, re->undone, re->n_undone))
		fail(g, "killed in %s: a part of what could be redone is left", act_name(a->kind));
	for (unsigned who = 0; who < WHO_MAX; who++) {
		int64_t id = g->open[who].id;
		bool kept = id && in_list(re->kept, re->n_kept, id);

		if (!id)
			continue;
		if (!kept && in_list(re->undone, re->n_undone, id)) {
			recovered[n++] = id;
			begun = MIN(begun, g->open[who].begun);
		} else if (!kept) {
			dropped = true;
		}
		landed |= kept;
		ended(g, who, kept);
	}
	if (landed && alone && pre)
		must_be(g, pre, false, "killed after a commit");
	else if (!g->cluster.n_kept && !g->cluster.unknown && alone)
		must_be(g, g->cluster.before, dropped && a->kind == ACT_COMMIT,
			"killed, and rolled back");
	else if (!g->cluster.n_kept && !g->cluster.unknown && !dropped)
		all_rolled(g, apart);
	else
		g->cluster.unknown = g->h.murky = true;
	if (a->kind == ACT_BEGIN && !g->failed)
		n = add_unknown(g, recovered, n, WHO_MAX + 1);
	/* It was rolled back below a step that stays. */
	g->h.contested |= n && g->cluster.n_kept;
	if (n && !g->failed)
		history_recovered(&g->h, recovered, n, begun, g->now);
	/* A step to be dropped may have been rolled back before the others. */
	if (n > 1 && a->kind == ACT_ABORT && !g->failed)
		g->h.redo[g->h.n_redo - 1].unsure = true;
	if (!g->failed)
		cluster_close(g);
}

void crashed(struct game *g, const struct act *a, const char *pre)
{
	/* A copy, because the caller may pass g->now. */
	AUTO_FREE char *before = xstrdup(pre ? pre : g->now);
	bool apart = a->kind == ACT_ABORT && drop_began(g, g->open[a->who].id);

	if (!restart(g))
		return;
	if (g->set->verbose && !g->quiet)
		fprintf(stderr, "# killed in %s; %zu kept, %zu undone\n", act_name(a->kind),
			g->w.sh->reply.n_kept, g->w.sh->reply.n_undone);
	if (a->kind != ACT_UNDO && a->kind != ACT_REDO && is_apart(g))
		play_apart(g, NULL, NULL);
	else if (any_open(g))
		half_done(g, a, pre ? before : NULL, apart);
	else if (a->kind == ACT_UNDO || a->kind == ACT_REDO)
		half_rolled(g, a, before);
	else if (a->kind == ACT_RESTORE)
		half_restored(g, a, before);
	else if (a->kind == ACT_BEGIN)
		half_begun(g, before);
	else if (a->kind == ACT_PRUNE)
		half_pruned(g, a, before);
	else if (a->kind != ACT_EXTERNAL && a->kind != ACT_POKE)
		must_be(g, before, false, "killed while nothing was open");
	g->h.halted = false;
	if (!g->apart)
		check_lists(g);
}
