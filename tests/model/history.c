/* history - the model of undo: steps as rungs of a ladder, with the trees between them. */
/* SPDX-License-Identifier: MIT */
#include "tests/model/history.h"

#include <stdlib.h>
#include <string.h>

#include "tests/model/lines.h"

static void rung_done(struct rung *r)
{
	free(r->before);
	free(r->after);
	*r = (struct rung){0};
}

static void undone_done(struct undone *u)
{
	for (size_t i = 0; i < u->n; i++)
		rung_done(&u->rungs[i]);
	free(u->rungs);
	free(u->pre);
	free(u->post);
	*u = (struct undone){0};
}

void redo_clear(struct history *h)
{
	while (h->n_redo)
		undone_done(&h->redo[--h->n_redo]);
}

void history_done(struct history *h)
{
	redo_clear(h);
	while (h->n_kept)
		rung_done(&h->kept[--h->n_kept]);
	free(take_ptr(&h->edits));
	h->n_edits = 0;
}

void rung_add(struct history *h, struct rung r)
{
	size_t at = h->n_kept;

	if (h->n_kept == LIST_MAX)
		abort();
	while (at > 0 && llabs(h->kept[at - 1].id) > llabs(r.id)) {
		h->kept[at] = h->kept[at - 1];
		at--;
	}
	h->kept[at] = r;
	h->n_kept++;
}

struct rung *rung_find(struct history *h, int64_t id)
{
	for (size_t i = 0; i < h->n_kept; i++)
		if (h->kept[i].id == id)
			return &h->kept[i];
	return NULL;
}

bool in_list(const int64_t *ids, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

bool redo_sync(struct history *h, const int64_t *ids, size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < h->n_redo; i++) {
		struct undone *u = &h->redo[i];
		size_t there = 0;

		for (size_t k = 0; k < u->n; k++)
			there += in_list(ids, n, u->rungs[k].id);
		if (there == u->n)
			h->redo[to++] = *u;
		else if (there)
			return false;
		else
			undone_done(u);
	}
	h->n_redo = to;
	return true;
}

bool history_has_undone(const struct history *h, int64_t id)
{
	for (size_t i = 0; i < h->n_redo; i++)
		for (size_t k = 0; k < h->redo[i].n; k++)
			if (h->redo[i].rungs[k].id == id)
				return true;
	return false;
}

void redo_split(struct history *h, const int64_t *kept, size_t n)
{
	struct undone *top = &h->redo[h->n_redo - 1], *rest = top;
	struct undone both = *top;
	size_t back = 0;

	for (size_t i = 0; h->n_redo && top->unsure && i < both.n; i++)
		back += in_list(kept, n, both.rungs[i].id);
	if (!back || back == both.n)
		return;
	*rest = (struct undone){.when = both.when, .post = xstrdup("")};
	rest->rungs = xcalloc(both.n, sizeof(*rest->rungs));
	top = &h->redo[h->n_redo++];
	*top = both;
	top->n = 0;
	for (size_t i = 0; i < both.n; i++)
		if (in_list(kept, n, both.rungs[i].id))
			top->rungs[top->n++] = both.rungs[i];
		else
			rest->rungs[rest->n++] = both.rungs[i];
}

/* ---- expected results ------------------------------------------------------------------------ */

static bool same(const char *a, const char *b, bool *loose)
{
	if (str_eq(a, b))
		return true;
	if (!trees_equal_loosely(a, b))
		return false;
	*loose = true;
	return true;
}

/* Returns whether files have several names: if one changed under a name that is gone, the others
 * look edited. */
static bool has_links(const struct rung *r)
{
	return (r->before && strstr(r->before, " same as ")) ||
	       (r->after && strstr(r->after, " same as "));
}

void expect_undo(const struct history *h, size_t n, const char *now, struct expected *e)
{
	const struct rung *newest = &h->kept[h->n_kept - 1], *oldest;
	const char *at = now;
	bool chained = true, loose = false, refuse = h->contested || h->murky;

	n = MIN(n, h->n_kept);
	*e = (struct expected){.n = n};
	if (!n)
		return;
	oldest = &h->kept[h->n_kept - n];
	for (const struct rung *r = newest; r >= oldest; r--) {
		/* The tree between overlapping steps is unknown; the newest must be known. */
		if (at && r->after && !same(at, r->after, &loose))
			chained = false;
		if (!r->after &&
		    (r == newest || h->contested || (at && (h->edited >= r->begun || h->murky))))
			chained = false;
		if (r->gap && r > oldest)
			chained = false;
		loose |= r->loose;
		refuse |= has_links(r) || r->left;
		at = r->before;
	}
	e->may_refuse = !chained || !at || refuse || h->edited >= oldest->begun ||
			(n < h->n_kept && oldest[-1].cluster == oldest->cluster);
	e->may_differ = h->poked >= oldest->begun;
	e->since = MAX(oldest->begun, h->forced);
	e->loose = loose || h->pair;
	if (chained && at)
		e->tree = xstrdup(at);
	if (n == 1) {
		e->from = newest->after;
		e->to = newest->before;
	}
}

void expect_redo(const struct history *h, const char *now, struct expected *e)
{
	const struct undone *u = &h->redo[h->n_redo - 1];
	bool loose = false;

	*e = (struct expected){0};
	if (!h->n_redo)
		return;
	e->n = u->n;
	if (h->left_out)
		e->may_refuse = true;
	else if (same(now, u->post, &loose))
		e->tree = xstrdup(u->pre);
	else
		e->may_refuse = true;
	e->may_refuse |= h->edited >= u->when;
	e->may_refuse |= h->contested || h->murky;
	e->may_differ = h->poked >= u->when;
	e->since = MAX(u->when, h->forced);
	e->loose = loose || h->pair;
	if (h->left_out)
		return;
	e->from = u->post;
	e->to = u->pre;
}

/* ---- results --------------------------------------------------------------------------------- */

static void set(char **tree, const char *to)
{
	free(*tree);
	*tree = xstrdup(to);
}

static bool tree_locks(const char *tree)
{
	struct lines l = split(tree);
	bool locks = locks_a_dir(&l);

	lines_done(&l);
	return locks;
}

/* Sets the known trees at both ends; those in between are kept only if the ends were as expected
 * and nothing was forced. */
static void know(struct rung *rungs, size_t n, const char *first, const char *last, unsigned flags)
{
	bool exact = !flags && str_eq(rungs[0].before, first) && str_eq(rungs[n - 1].after, last);

	for (size_t i = 0; i < n && !exact; i++) {
		if (i)
			free(take_ptr(&rungs[i].before));
		if (i < n - 1)
			free(take_ptr(&rungs[i].after));
	}
	set(&rungs[0].before, first);
	set(&rungs[n - 1].after, last);
}

/* Forgets the trees of overlapping steps of which a part was rolled back by force: the order of
 * their changes is unknown. */
static void part_cluster(struct history *h, struct rung *went)
{
	for (size_t i = h->n_kept; i-- > 0 && h->kept[i].cluster == went->cluster;) {
		free(take_ptr(&h->kept[i].before));
		free(take_ptr(&h->kept[i].after));
		h->kept[i].gap = went->gap = true;
	}
}

void history_undone(struct history *h, size_t n, const char *pre, const char *post, unsigned flags)
{
	struct undone *u = &h->redo[h->n_redo++];

	n = MIN(n, h->n_kept);
	*u = (struct undone){.n = n, .when = ++h->clock};
	u->whole = flags & UNDO_KEEP_MINE && tree_locks(pre);
	u->rungs = xcalloc(n, sizeof(*u->rungs));
	h->n_kept -= n;
	memcpy(u->rungs, &h->kept[h->n_kept], n * sizeof(*u->rungs));
	know(u->rungs, n, post, pre, flags);
	u->pre = xstrdup(pre);
	u->post = xstrdup(post);
	h->contested |= flags != 0;
	h->forced = flags ? h->clock : h->forced;
	if (flags)
		part_cluster(h, &u->rungs[0]);
	if (flags || !h->n_kept || h->kept[h->n_kept - 1].after)
		return;
	/* One of several overlapping steps: changes of a directory's times by both cannot be
	 * separated. Not after an external edit, or a rollback below another step: the current tree
	 * has these, too. */
	if (h->edited >= h->kept[h->n_kept - 1].begun || h->contested || h->murky)
		return;
	set(&h->kept[h->n_kept - 1].after, post);
	h->kept[h->n_kept - 1].loose = true;
}

void history_redone(struct history *h, const char *pre, const char *post, unsigned flags,
		    const int64_t *undone, size_t n)
{
	struct undone *u = &h->redo[--h->n_redo];
	long begun = u->rungs[u->n - 1].begun;
	/* It died or was dropped, and its part in a folder may have begun after another overlapping
	 * step was dropped there. */
	bool late = h->pair && u->rungs[0].torn;
	size_t left = 0;

	h->left_out |= (flags & UNDO_KEEP_MINE) != 0;

	++h->clock;
	h->contested |= flags != 0;
	h->forced = flags ? h->clock : h->forced;
	know(u->rungs, u->n, pre, post, flags);
	if (u->whole) { /* some of it is the step's again, and goes with it */
		free(take_ptr(&u->rungs[0].before));
		u->rungs[0].gap = true;
	}
	for (size_t i = 0; i < u->n; i++) {
		rung_add(h, u->rungs[i]);
		u->rungs[i] = (struct rung){0};
	}
	undone_done(u);
	for (size_t i = 0; i < h->n_redo; i++) {
		bool told = h->pair && in_list(undone, n, h->redo[i].rungs[0].id);

		if (!told && (h->redo[i].when <= begun || late))
			undone_done(&h->redo[i]);
		else
			h->redo[left++] = h->redo[i];
	}
	h->n_redo = left;
}

static int by_number(const void *a, const void *b)
{
	const struct rung *x = a, *y = b;

	return llabs(x->id) < llabs(y->id) ? -1 : llabs(x->id) > llabs(y->id);
}

void history_recovered(struct history *h, const int64_t *ids, size_t n, long begun,
		       const char *post)
{
	struct undone *u = &h->redo[h->n_redo++];

	*u = (struct undone){.n = n, .when = ++h->clock, .post = xstrdup(post)};
	u->rungs = xcalloc(n, sizeof(*u->rungs));
	for (size_t i = 0; i < n; i++)
		u->rungs[i] = (struct rung){.id = ids[i],
					    .begun = begun,
					    .cluster = h->clusters,
					    .torn = true,
					    .halted = h->halted};
	qsort(u->rungs, n, sizeof(*u->rungs), by_number);
}

static void leave(struct rung *rungs, size_t n, int cluster)
{
	for (size_t i = 0; i < n; i++)
		rungs[i].left |= rungs[i].cluster == cluster;
}

void history_pruned(struct history *h, size_t n)
{
	size_t gone = h->n_kept - MIN(n, h->n_kept);

	for (size_t i = 0; i < gone; i++) {
		leave(h->kept + gone, h->n_kept - gone, h->kept[i].cluster);
		for (size_t k = 0; k < h->n_redo; k++)
			leave(h->redo[k].rungs, h->redo[k].n, h->kept[i].cluster);
		rung_done(&h->kept[i]);
	}
	memmove(h->kept, h->kept + gone, (h->n_kept - gone) * sizeof(*h->kept));
	h->n_kept -= gone;
}
