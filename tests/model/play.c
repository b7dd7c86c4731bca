/* play - act by act: the worker performs it, the tree is read, and compared with the history's. */
/* SPDX-License-Identifier: MIT */
#include "tests/model/play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/tree.h"

void fail(struct game *g, const char *fmt, ...)
{
	va_list ap;

	if (g->failed)
		return;
	g->failed = true;
	va_start(ap, fmt);
	if (vasprintf(&g->failure, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (!g->quiet)
		fprintf(stderr, "# seed %llu, act %zu: %s\n", (unsigned long long)g->seed, g->turn,
			g->failure);
}

char *look(const struct game *g)
{
	AUTO_FREE char *first = tree_take(g->w.folder, ".cordon"), *second = NULL;

	if (!g->w.second)
		return take_ptr(&first);
	second = tree_take(g->w.second, ".cordon");
	return xasprintf("%s//%s", first, second); /* its top is no path of the first */
}

void must_be(struct game *g, const char *want, bool loose, const char *when)
{
	if (g->failed || str_eq(want, g->now) || (loose && trees_equal_loosely(want, g->now)))
		return;
	if (!g->quiet)
		tree_same(want, g->now);
	fail(g, "%s: the tree differs", when);
}

static void look_again(struct game *g)
{
	free(g->now);
	g->now = look(g);
}

bool any_open(const struct game *g)
{
	for (int i = 0; i < WHO_MAX; i++)
		if (g->open[i].id)
			return true;
	return false;
}

/* Checks that the lists of kept and undone steps agree with the model. */
void check_lists(struct game *g)
{
	const struct reply *re = &g->w.sh->reply;
	const struct history *h = &g->h;
	bool good = re->n_kept == h->n_kept;
	size_t n = 0;

	for (size_t i = 0; good && i < re->n_kept; i++)
		good = re->kept[i] == h->kept[h->n_kept - 1 - i].id;
	if (!good)
		fail(g, "%zu steps are kept, not %zu, or others", re->n_kept, h->n_kept);
	for (size_t i = 0; i < h->n_redo; i++) {
		n += h->redo[i].n;
		for (size_t k = 0; good && k < h->redo[i].n; k++)
			good = in_list(re->undone, re->n_undone, h->redo[i].rungs[k].id);
	}
	if (!good || n != re->n_undone)
		fail(g, "%zu steps are undone, not %zu, or others", re->n_undone, n);
	audit(g);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

void cluster_close(struct game *g)
{
	size_t n = g->cluster.n_kept;

	for (size_t i = 0; i < n; i++)
		rung_add(&g->h, (struct rung){.id = g->cluster.kept[i],
					      .cluster = g->h.clusters,
					      .begun = g->cluster.begun[i],
					      .ended = g->h.clock});
	/* The steps of a cluster are the newest ones, in the order of their numbers. */
	if (n) {
		struct rung *last = &g->h.kept[g->h.n_kept - 1];

		last->after = xstrdup(g->now);
		last[1 - (ptrdiff_t)n].loose = n < g->cluster.n_begun;
		last[1 - (ptrdiff_t)n].gap = g->cluster.unknown;
		if (!g->cluster.unknown)
			last[1 - (ptrdiff_t)n].before = xstrdup(g->cluster.before);
	} else if (!g->cluster.unknown && g->h.poked < g->cluster.since) {
		must_be(g, g->cluster.before, true, "a step that left nothing was dropped");
	}
	g->h.clusters++;
	free(take_ptr(&g->cluster.before));
	g->cluster.n_kept = g->cluster.n_begun = 0;
	g->cluster.unknown = false;
}

void ended(struct game *g, unsigned who, bool kept)
{
	if (kept) {
		g->cluster.kept[g->cluster.n_kept] = g->open[who].id;
		g->cluster.begun[g->cluster.n_kept++] = g->open[who].begun;
	}
	g->open[who].id = 0;
}

static void play_begin(struct game *g, const struct act *a)
{
	if (g->open[a->who].id)
		return;
	if (!any_open(g)) {
		g->h.clock++;
		free(g->cluster.before);
		g->cluster.before = xstrdup(g->now);
		g->cluster.since = g->h.clock;
	}
	if (worker_act(&g->w, a) < 0) {
		crashed(g, a, g->now);
		return;
	}
	if (g->w.sh->reply.r < 0) {
		fail(g, "begin: %s", g->w.sh->reply.words);
		return;
	}
	g->open[a->who].id = g->w.sh->reply.id;
	g->open[a->who].begun = g->h.clock;
	g->cluster.n_begun++;
	if (g->cluster.n_begun > 1)
		return;
	look_again(g);
	must_be(g, g->cluster.before, false, "begin");
}

static void play_end(struct game *g, const struct act *a)
{
	AUTO_FREE char *pre = look(g);
	const struct reply *re = &g->w.sh->reply;
	int64_t id = g->open[a->who].id;
	bool alone = g->cluster.n_begun == 1;
	int r;

	if (!g->open[a->who].id)
		return;
	g->h.clock++;
	if (a->kind == ACT_ABORT)
		drop_begins(g, id);
	if (worker_act(&g->w, a) < 0) {
		crashed(g, a, pre);
		return;
	}
	r = g->w.sh->reply.r;
	if (r < 0) {
		fail(g, "%s: %s", act_name(a->kind), g->w.sh->reply.words);
		return;
	}
	look_again(g);
	if (a->kind == ACT_COMMIT)
		must_be(g, pre, false, "commit");
	else if (alone && g->h.poked < g->cluster.since) /* else no step had it open */
		must_be(g, g->cluster.before, false, "abort");
	else
		g->cluster.unknown = g->h.murky = true;
	if (a->kind == ACT_COMMIT && r > 0)
		redo_clear(&g->h);
	ended(g, a->who, a->kind == ACT_COMMIT && r > 0);
	if (a->kind == ACT_ABORT && in_list(re->undone, re->n_undone, id))
		history_recovered(&g->h, &id, 1, g->open[a->who].begun, g->now);
	if (!any_open(g)) {
		cluster_close(g);
		check_lists(g);
	}
}

static void end_all(struct game *g)
{
	for (unsigned who = 0; who < WHO_MAX && !g->failed; who++)
		play_end(g, &(struct act){.kind = ACT_COMMIT, .who = who});
}

/* ---- other acts ------------------------------------------------------------------------------ */

/* Returns whether an open step has saved the content before this write. */
static bool poke_is_kept(struct game *g, int64_t born)
{
	const struct rung *owner = rung_find(&g->h, born);

	for (int i = 0; i < WHO_MAX; i++)
		if (g->open[i].id &&
		    (g->open[i].id == born || (owner && g->open[i].begun > owner->ended)))
			return true;
	return false;
}

static void play_native(struct game *g, const struct act *a)
{
	AUTO_FREE char *before = NULL;

	if (a->kind == ACT_EXTERNAL)
		end_all(g);
	if (g->failed)
		return;
	before = xstrdup(g->now);
	if (worker_act(&g->w, a) < 0) {
		if (a->kind != ACT_DROP)
			g->h.edited = g->h.poked = ++g->h.clock;
		crashed(g, a, NULL);
		return;
	}
	if (a->kind == ACT_DROP || (a->kind == ACT_POKE && g->w.sh->reply.r < 0))
		return;
	/* A failed edit may have changed a directory's times. */
	if (a->kind == ACT_EXTERNAL || g->w.sh->reply.stray ||
	    !poke_is_kept(g, g->w.sh->reply.born)) {
		g->h.edited = ++g->h.clock;
		if (a->kind == ACT_POKE || g->w.sh->reply.stray)
			g->h.poked = g->h.clock;
	}
	if (!any_open(g))
		look_again(g);
	if (a->kind == ACT_EXTERNAL && !g->w.sh->reply.stray)
		edits_note(&g->h, before, g->now);
}

static void play_file(struct game *g, const struct act *a)
{
	struct act first = {.kind = ACT_BEGIN, .who = a->who, .y = a->y};

	play_begin(g, &first);
	if (g->failed || !g->open[a->who].id)
		return;
	if (worker_act(&g->w, a) < 0)
		crashed(g, a, NULL);
	else if (g->w.sh->reply.stray) /* a redo may restore it */
		g->h.edited = g->h.poked = ++g->h.clock;
}

static void play_reopen(struct game *g, const struct act *a)
{
	end_all(g);
	if (g->failed)
		return;
	if (worker_act(&g->w, a) < 0) {
		crashed(g, a, g->now);
		return;
	}
	if (g->w.sh->reply.r < 0)
		fail(g, "open: %s", g->w.sh->reply.words);
	check_lists(g);
	look_again(g);
}

/* The folder must not change, and no more steps may be dropped than requested. */
static void play_upkeep(struct game *g, const struct act *a)
{
	const struct reply *re = &g->w.sh->reply;
	AUTO_FREE char *before = NULL;
	size_t must_stay;

	end_all(g);
	if (g->failed)
		return;
	before = xstrdup(g->now);
	must_stay = a->kind == ACT_PRUNE ? MIN(a->x, g->h.n_kept) : g->h.n_kept;
	if (worker_act(&g->w, a) < 0) {
		crashed(g, a, g->now);
		return;
	}
	look_again(g);
	must_be(g, before, false, act_name(a->kind));
	if (re->r < 0 || re->pruned != g->h.n_kept - must_stay)
		fail(g, "%s: %zu steps have gone, %zu are to stay", act_name(a->kind), re->pruned,
		     must_stay);
	history_pruned(&g->h, must_stay);
	check_lists(g);
}

static void play_one(struct game *g, const struct act *a)
{
	switch ((int)a->kind) {
	case ACT_BEGIN:
		play_begin(g, a);
		break;
	case ACT_COMMIT:
	case ACT_ABORT:
		play_end(g, a);
		break;
	case ACT_UNDO:
	case ACT_REDO:
	case ACT_RESTORE:
		end_all(g);
		if (!g->failed)
			(a->kind == ACT_UNDO   ? play_undo
			 : a->kind == ACT_REDO ? play_redo
					       : play_restore)(g, a);
		break;
	case ACT_REOPEN:
		play_reopen(g, a);
		break;
	case ACT_PRUNE:
		if (g->w.second) /* a store is pruned by itself: which steps are whole is not told
				  */
			break;
		play_upkeep(g, a);
		break;
	case ACT_TIDY:
		play_upkeep(g, a);
		break;
	case ACT_KILL:
		g->kills = a->x % 3;
		g->kill_seed = a->x * 31 + a->y;
		worker_doom(&g->w, a->x, a->y);
		break;
	case ACT_EXTERNAL:
	case ACT_POKE:
	case ACT_DROP:
		play_native(g, a);
		break;
	default:
		play_file(g, a);
	}
}

char *play(const struct setting *set, const struct sequence *s, uint64_t seed, bool quiet)
{
	struct game *g = xcalloc(1, sizeof(*g));
	char *failure;

	g->set = set;
	g->seed = seed;
	g->quiet = quiet;
	/* One sequence in four has two folders, in half of each a user of its own. */
	worker_init(&g->w, set, geteuid() == 0 && seed % 2 ? 12345 : geteuid(), seed / 2 % 4 == 0);
	g->h.pair = g->w.second != NULL;
	if (worker_start(&g->w) < 0)
		fail(g, "open: %s", g->w.sh->reply.words);
	look_again(g);
	for (g->turn = 0; g->turn < s->n && !g->failed && !g->apart; g->turn++) {
		const struct act *a = &s->acts[g->turn];

		if (set->verbose && !quiet) {
			fprintf(stderr, "# %3zu ", g->turn);
			act_print(stderr, a);
		}
		play_one(g, a);
		if (set->verbose && !quiet)
			fprintf(stderr, "#     = %d %s\n", g->w.sh->reply.r, g->w.sh->reply.words);
	}
	if (!g->failed && !g->apart)
		end_all(g);
	failure = g->failure;
	worker_done(&g->w);
	history_done(&g->h);
	free(g->cluster.before);
	free(g->now);
	free(g);
	return failure;
}
