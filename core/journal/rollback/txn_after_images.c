/* txn_after_images - writes new after-images of the steps when a rollback is done. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/news.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/path_set.h"

void txn_tell(const struct txn *t)
{
	t->j->mended = true;
	journal_say(t->j, "%s was interrupted when cordon ended: it is %s now",
		    t->redo ? "a redo" : "an undo", t->back ? "taken back" : "finished");
}

bool txn_knows_roots(struct journal *j, const struct undo_log *log)
{
	size_t at = 0;
	struct rec r;

	while (undo_log_next(log, &at, &r))
		if (!root_is_known(j, r.root) || !root_is_known(j, r.root2))
			return false;
	return true;
}

static void name_now(struct path_set *set, const struct renames *moves, uint64_t seq, int root,
		     const char *path)
{
	AUTO_FREE char *now = NULL;

	path_set_add(set, root, path);
	if (!moves->n)
		return;
	now = xstrdup(path);
	if (renames_follow(moves, seq, &root, &now))
		path_set_add(set, root, now);
}

static void add_names(struct path_set *set, const struct undo_log *log, const struct renames *moves,
		      unsigned without)
{
	size_t at = 0;
	struct rec r;

	while (undo_log_next(log, &at, &r)) {
		if (rec_is_quiet(r.type) || r.flags & without)
			continue;
		name_now(set, moves, r.seq, r.root, r.path);
		if (r.type == REC_RENAME || r.type == REC_XCHG)
			name_now(set, moves, r.seq, r.root2, r.path2);
	}
}

void txn_names(struct path_set *set, const struct undo_log *log, const struct renames *moves)
{
	add_names(set, log, moves, 0);
}

/* Renames of directories in the logs. */
struct trips {
	struct renames all;	    /* by steps and rollbacks */
	struct renames made;	    /* by this rollback; empty if it was turned round */
	struct path_set done;	    /* paths of its applied records, if it skipped any */
	struct after_images newest; /* if an undo skipped any: the steps' old images */
};

#define IDLE (REC_SKIPPED | REC_ASIDE)

static bool has_idle(const struct undo_log *log)
{
	size_t at = 0;
	struct rec r;

	while (undo_log_next(log, &at, &r))
		if (r.flags & IDLE)
			return true;
	return false;
}

/* Adds images of the step's own work. A damaged file ends them: renew_old() returns its error. */
static void add_newest(struct trips *trips, int stepdir)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int r = after_image_begin(&reader, stepdir, "post");

	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0)
		if (!(p.flags & IMAGE_PASSING))
			after_images_take(&trips->newest, &p);
}

static void add_done(struct txn *t, struct trips *trips)
{
	bool some = false;

	for (size_t i = 0; i < t->n && !some; i++)
		some = !t->list[i].arrived && has_idle(&txn_to(t, &t->list[i])->log);
	for (size_t i = 0; i < t->n && some; i++) {
		if (t->list[i].arrived)
			continue;
		add_names(&trips->done, &txn_to(t, &t->list[i])->log, &trips->all, IDLE);
		if (!t->redo)
			add_newest(trips, t->list[i].undo.dir);
	}
}

static void trips_add(struct txn *t, struct trips *trips)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct undo_log *log = &txn_to(t, &t->list[i])->log;

		if (t->list[i].arrived)
			continue;
		renames_add(&trips->all, log);
		if (!t->back)
			renames_add_made(&trips->made, log);
	}
	renames_sort(&trips->all);
	renames_sort(&trips->made);
	add_done(t, trips);
}

struct whose {
	struct path_set foreign, returns;
};

/* Marks the present path of a renamed directory as foreign as well. */
static void note_moved(const struct renames *moves, struct whose *w, int root, const char *path)
{
	AUTO_FREE char *now = xasprintf("%s/", path);

	if (!renames_follow(moves, 0, &root, &now))
		return;
	now[strlen(now) - 1] = '\0';
	path_set_add(&w->foreign, root, now);
}

/*
 * After a rollback, a path in conflict does not have the steps' own state. An external edit that
 * was kept, or put back, is at the path (foreign). An external edit that was replaced returns when
 * the rollback is reverted (returns). Both hold if one edit took the place of another.
 */
static void note_whose(const struct txn *t, const struct renames *moves, struct whose *w, int root,
		       const char *path, unsigned old)
{
	bool replaced = path_set_has(&t->remedy.replaced, root, path);
	bool kept = path_set_has(&t->remedy.kept, root, path), below = false;
	AUTO_FREE char *now = NULL;
	int at = root;

	if (t->back ? old & IMAGE_RETURNS : replaced)
		path_set_add(&w->returns, root, path);
	if (!t->back && old & IMAGE_RETURNS)
		path_set_add(&w->foreign, root, path);
	if (!kept && !(replaced ? t->back : old & IMAGE_FOREIGN))
		return;
	now = xstrdup(path); /* a directory above it may just have been renamed */
	below = renames_follow(moves, 0, &at, &now);
	path_set_add(&w->foreign, at, now);
	if (!below)
		note_moved(moves, w, root, path);
}

/* Steps in the order of their ends, newest first: the last one to end has the newest images. */
struct turn {
	struct mover *m;
	size_t place;
	uint64_t ended; /* as a sequence number */
};

/*
 * A step's new image: the paths of its old image and of its logs (only those name obstacles). The
 * newest step's image also has other steps' paths below renamed directories.
 */
struct renewal {
	struct path_set set; /* the paths */
	size_t own, idle;    /* below own: of applied records; below idle: of skipped ones */
	struct path_set absent, shared, passing;
	struct path_set edited;	 /* while the rollback ran */
	struct after_images old; /* old images with the bytes of the file */
	struct whose whose;
};

/* Returns whether a newer step that is undone, too, has an image of the path: the present state is
 * that step's, and the plan has found an edit between the two. */
static bool is_replaced(const struct trips *trips, const struct after_image *old)
{
	struct after_image newest;

	return after_images_find(&trips->newest, old->key, &newest) && newest.seq > old->seq;
}

/* Returns whether the rollback did nothing at the path, and the path was edited from outside after
 * the step's old image. */
static bool is_edited(const struct txn *t, const struct trips *trips, const struct renewal *n,
		      const struct after_image *old)
{
	size_t i = path_set_find(&n->set, old->key);

	if (t->back || i < n->own || i >= n->idle || old->flags & IMAGE_FOREIGN)
		return false;
	return !path_set_has_key(&trips->done, old->key) && !is_replaced(trips, old) &&
	       after_image_differs(t->j, old);
}

static int renew_old(const struct txn *t, int stepdir, const struct trips *trips, struct renewal *n)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int r = after_image_begin(&reader, stepdir, "post");

	if (r == -ENOENT)
		return 0;
	store_forget_near(t->j);
	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0) {
		if (is_edited(t, trips, n, &p))
			path_set_add_key(&n->whose.foreign, p.key);
		path_set_add_key(&n->set, p.key);
		if (!p.obj.mode)
			path_set_add_key(&n->absent, p.key);
		if (p.image)
			after_images_take(&n->old, &p);
		note_whose(t, &trips->made, &n->whose, p.root, p.path, p.flags);
	}
	return r;
}

/* Marks the events at these paths as the rollback's own, except at paths edited meanwhile. */
static void own_names(struct journal *j, const struct renewal *n)
{
	for (size_t k = 0; j->owning && k < path_set_count(&n->set); k++) {
		const char *key = path_set_key(&n->set, k);

		if (!path_set_has_key(&n->edited, key))
			path_set_add_key(&j->own, key);
	}
}

/* Redone together with newer steps, a step's paths may show their states: its own are in "left". A
 * renamed directory has others, under other names. */
static void find_shared(const struct txn *t, const struct turn *turn, const struct trips *trips,
			struct renewal *n)
{
	for (size_t i = 0; t->redo != t->back && i < path_set_count(&n->set); i++) {
		const char *key = path_set_key(&n->set, i), *path;
		int root = path_key_root(key, &path);

		if (turn->place || renames_touch(&trips->all, root, path))
			path_set_add_key(&n->shared, key);
	}
}

static int renew_image(struct txn *t, const struct turn *turn, const struct trips *trips)
{
	struct mover *m = turn->m;
	struct renewal n = {0};
	int r;

	add_names(&n.set, &m->undo.log, &trips->all, IDLE);
	add_names(&n.set, &m->redo.log, &trips->all, IDLE);
	n.own = path_set_count(&n.set);
	txn_names(&n.set, &m->undo.log, &trips->all);
	txn_names(&n.set, &m->redo.log, &trips->all);
	n.idle = path_set_count(&n.set);
	/* A path below a directory of the steps may be in no log. */
	for (size_t k = 0; k < path_set_count(&t->remedy.replaced); k++)
		path_set_add_key(&n.set, path_set_key(&t->remedy.replaced, k));
	for (size_t k = 0; k < path_set_count(&t->remedy.kept); k++)
		path_set_add_key(&n.set, path_set_key(&t->remedy.kept, k));
	for (size_t k = 0; k < path_set_count(&n.set); k++) {
		const char *path;
		int root = path_key_root(path_set_key(&n.set, k), &path);

		note_whose(t, &trips->made, &n.whose, root, path, 0);
	}
	r = renew_old(t, m->undo.dir, trips, &n);
	for (size_t k = 0; k < path_set_count(&n.whose.foreign); k++)
		path_set_add_key(&n.set, path_set_key(&n.whose.foreign, k));
	if (r == 0 && !turn->place)
		r = renames_add_images(t->j, &trips->all, &n.set);
	/* At the other paths the present state is not the step's. */
	for (size_t k = n.own; k < path_set_count(&n.set); k++)
		path_set_add_key(&n.passing, path_set_key(&n.set, k));
	/* A merged file is not all the step's, either. */
	for (size_t i = 0; i < t->remedy.n_merges && !t->back; i++)
		path_set_add(&n.passing, t->remedy.merges[i].root, t->remedy.merges[i].path);
	find_shared(t, turn, trips, &n);
	/* A redo that was turned round wrote no new image; a step that never ended has none. */
	if (r == 0 && !t->redo && !t->recover)
		r = original_image_keep(m->undo.dir);
	if (r == 0)
		r = after_image_write(t->j, m->undo.dir, &n.set,
				      &(struct after_image_how){.absent = &n.absent,
								.shared = &n.shared,
								.passing = &n.passing,
								.foreign = &n.whose.foreign,
								.returns = &n.whose.returns,
								.old = &n.old,
								.n_own = n.own,
								.edited = &n.edited});
	own_names(t->j, &n);
	path_set_done(&n.set);
	path_set_done(&n.shared);
	path_set_done(&n.passing);
	path_set_done(&n.absent);
	after_images_done(&n.old);
	path_set_done(&n.whose.foreign);
	path_set_done(&n.whose.returns);
	path_set_done(&n.edited);
	return r;
}

static int by_end(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->ended != y->ended)
		return x->ended < y->ended ? 1 : -1;
	return x->m < y->m ? -1 : 1;
}

static struct turn *order_turns(const struct txn *t)
{
	struct turn *list = xcalloc(t->n + 1, sizeof(*list));

	for (size_t i = 0; i < t->n; i++) {
		list[i].m = &t->list[i];
		list[i].ended = t->list[i].arrived ? 0 : concurrent_ended(t->list[i].undo.dir);
	}
	qsort(list, t->n, sizeof(*list), by_end);
	for (size_t i = 0; i < t->n; i++)
		list[i].place = i;
	return list;
}

static int look(struct txn *t)
{
	AUTO_FREE struct turn *turns = order_turns(t);
	struct trips trips = {0};
	int r = 0;

	trips_add(t, &trips);

	/* The step that ended last must write its image of a path last. */
	for (size_t i = t->n; r == 0 && i-- > 0;)
		if (!turns[i].m->arrived)
			r = renew_image(t, &turns[i], &trips);
	renames_done(&trips.all);
	renames_done(&trips.made);
	path_set_done(&trips.done);
	after_images_done(&trips.newest);
	return r;
}

int txn_look(struct txn *t)
{
	int r;

	do
		r = look(t);
	while (r < 0 && reserve_give(t->j, r));
	return r;
}
