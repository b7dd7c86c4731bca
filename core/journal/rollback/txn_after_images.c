/* txn_after_images - writes new after-images of the steps when a rollback is done. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/fs/reach.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/newest_toucher.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/path_set.h"

void txn_tell(const struct txn *t)
{
	t->j->mended = true;
	journal_say(t->j, "%s was interrupted when cordon ended: it is %s now",
		    t->redo ? "a redo" : "an undo", t->back ? "taken back" : "finished");
}

bool txn_knows_roots(struct journal *j, const struct wal *log)
{
	size_t at = 0;
	struct rec r;

	while (wal_next(log, &at, &r))
		if (!root_is_known(j, r.root) || !root_is_known(j, r.root2))
			return false;
	return true;
}

static void name_now(struct names *set, const struct moves *moves, uint64_t seq, int root,
		     const char *path)
{
	AUTO_FREE char *now = NULL;

	names_add(set, root, path);
	if (!moves->n)
		return;
	now = xstrdup(path);
	if (moves_follow(moves, seq, &root, &now))
		names_add(set, root, now);
}

static void add_names(struct names *set, const struct wal *log, const struct moves *moves,
		      unsigned without)
{
	size_t at = 0;
	struct rec r;

	while (wal_next(log, &at, &r)) {
		if (rec_is_quiet(r.type) || r.flags & without)
			continue;
		name_now(set, moves, r.seq, r.root, r.path);
		if (r.type == REC_RENAME || r.type == REC_XCHG)
			name_now(set, moves, r.seq, r.root2, r.path2);
	}
}

void txn_names(struct names *set, const struct wal *log, const struct moves *moves)
{
	add_names(set, log, moves, 0);
}

/* Directories that have other names since the beginning. */
struct trips {
	struct moves all;  /* whoever moved them */
	struct moves made; /* by this rollback; one that was turned round has put them back */
	struct names done; /* where it did something, if elsewhere it left something out */
};

#define IDLE (REC_SKIPPED | REC_ASIDE)

static bool has_idle(const struct wal *log)
{
	size_t at = 0;
	struct rec r;

	while (wal_next(log, &at, &r))
		if (r.flags & IDLE)
			return true;
	return false;
}

static void add_done(struct txn *t, struct trips *trips)
{
	bool some = false;

	for (size_t i = 0; i < t->n && !some; i++)
		some = !t->list[i].arrived && has_idle(&txn_to(t, &t->list[i])->log);
	for (size_t i = 0; i < t->n && some; i++)
		if (!t->list[i].arrived)
			add_names(&trips->done, &txn_to(t, &t->list[i])->log, &trips->all, IDLE);
}

static void trips_add(struct txn *t, struct trips *trips)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct wal *log = &txn_to(t, &t->list[i])->log;

		if (t->list[i].arrived)
			continue;
		moves_add(&trips->all, log);
		if (!t->back)
			moves_add_made(&trips->made, log);
	}
	moves_sort(&trips->all);
	moves_sort(&trips->made);
	add_done(t, trips);
}

struct whose {
	struct names foreign, returns;
};

/* Or be such a directory: then that is somebody's as well where it lies now. */
static void note_moved(const struct moves *moves, struct whose *w, int root, const char *path)
{
	AUTO_FREE char *now = xasprintf("%s/", path);

	if (!moves_follow(moves, 0, &root, &now))
		return;
	now[strlen(now) - 1] = '\0';
	names_add(&w->foreign, root, now);
}

/*
 * A path in conflict is not the steps' own afterwards: what was left out or put back is still
 * somebody else's work, and what was replaced is so again when the way back brings it. Both, where
 * one such work has taken the place of another.
 */
static void note_whose(const struct txn *t, const struct moves *moves, struct whose *w, int root,
		       const char *path, unsigned old)
{
	bool replaced = names_has(&t->remedy.replaced, root, path);
	bool kept = names_has(&t->remedy.kept, root, path), below = false;
	AUTO_FREE char *now = NULL;
	int at = root;

	if (t->back ? old & POST_RETURNS : replaced)
		names_add(&w->returns, root, path);
	if (!t->back && old & POST_RETURNS)
		names_add(&w->foreign, root, path);
	if (!kept && !(replaced ? t->back : old & POST_FOREIGN))
		return;
	now = xstrdup(path); /* it may lie in a directory that was moved just now */
	below = moves_follow(moves, 0, &at, &now);
	names_add(&w->foreign, at, now);
	if (!below)
		note_moved(moves, w, root, path);
}

/* Newest first: of steps that overlapped that is the one that ended last, for the others' images
 * were made before its own. */
struct turn {
	struct mover *m;
	size_t place;
	uint64_t ended; /* as the number of a moment */
};

/*
 * The paths of the step's post-image and those of its logs (obstacles are only there). The newest
 * one's also takes in what other steps know of directories that have moved.
 */
struct renewal {
	struct names set; /* the paths */
	size_t own, idle; /* the first are its own; up to here, of records that were left out */
	struct names absent, shared, passing;
	struct names edited; /* while the rollback ran */
	struct posts old;    /* that have their bytes */
	struct posts left;   /* of those in `shared`, where the step had left that */
	struct whose whose;
};

/* Nothing was done there, but a human did something since the step was there last. */
static bool is_edited(const struct txn *t, const struct trips *trips, const struct renewal *n,
		      const struct post *old)
{
	size_t i = names_find(&n->set, old->key);

	if (t->back || i < n->own || i >= n->idle || old->flags & POST_FOREIGN)
		return false;
	return !names_has_key(&trips->done, old->key) && post_differs(t->j, old, NULL);
}

static int renew_old(const struct txn *t, int stepdir, const struct trips *trips, struct renewal *n)
{
	AUTO_POST_READER struct post_reader reader;
	struct post p;
	int r = post_begin(&reader, stepdir, "post");

	if (r == -ENOENT)
		return 0;
	store_forget_near(t->j);
	while (r >= 0 && (r = post_next(&reader, &p)) > 0) {
		if (is_edited(t, trips, n, &p))
			names_add_key(&n->whose.foreign, p.key);
		names_add_key(&n->set, p.key);
		if (!p.obj.mode)
			names_add_key(&n->absent, p.key);
		if (p.image)
			posts_take(&n->old, &p);
		note_whose(t, &trips->made, &n->whose, p.root, p.path, p.flags);
	}
	return r;
}

static bool has_remedy(const struct txn *t)
{
	const struct remedy *r = &t->remedy;

	return names_count(&r->replaced) || names_count(&r->kept) || r->n_merges;
}

/* By another name of the file that lies there; the number it had may be another's now. */
static bool is_written_since(const struct txn *t, const struct turn *turn,
			     const struct touchers *touchers, const struct post *left)
{
	struct obj o;

	return touchers->files && left->obj.mode &&
	       reach_see(t->j, left->root, left->path, &o) == 0 &&
	       touchers_have_file(touchers, turn->place, o.ino);
}

/* What it had left when it was here before, where newer ones have changed that, be it by another
 * name of the file. One that lay in a directory which was moved has another name now. */
static int find_left(const struct txn *t, const struct turn *turn, const struct trips *trips,
		     const struct touchers *touchers, struct renewal *n)
{
	const struct mover *m = turn->m;
	AUTO_POST_READER struct post_reader reader = {.in = IN_NONE};
	struct post p;
	int r = 0;

	if (has_remedy(t))
		return left_drop(m->undo.dir);
	/* One that was turned round has not made them anew; a step that never ended has none. */
	if (!t->redo && !t->recover)
		r = left_keep(m->undo.dir);
	if (r < 0 || t->redo == t->back)
		return r;
	r = names_count(&n->shared) || touchers->files ? post_begin(&reader, m->undo.dir, "left")
						       : -ENOENT;
	if (r == -ENOENT)
		return 0;
	while (r >= 0 && (r = post_next(&reader, &p)) > 0) {
		size_t i = names_find(&n->set, p.key);
		bool shared =
			names_has_key(&n->shared, p.key) || is_written_since(t, turn, touchers, &p);

		if (!p.flags && i < n->own && shared && !moves_touch(&trips->all, p.root, p.path))
			posts_take(&n->left, &p);
	}
	return r == -EBADMSG ? 0 : r;
}

/* What happens there is told as the rollback's own, but for what was edited meanwhile. */
static void own_names(struct journal *j, const struct renewal *n)
{
	for (size_t k = 0; j->owning && k < names_count(&n->set); k++) {
		const char *key = names_key(&n->set, k);

		if (!names_has_key(&n->edited, key))
			names_add_key(&j->own, key);
	}
}

static int renew_post(struct txn *t, const struct turn *turn, const struct trips *trips,
		      const struct touchers *touchers)
{
	struct mover *m = turn->m;
	struct renewal n = {0};
	int r;

	add_names(&n.set, &m->undo.log, &trips->all, IDLE);
	add_names(&n.set, &m->redo.log, &trips->all, IDLE);
	n.own = names_count(&n.set);
	txn_names(&n.set, &m->undo.log, &trips->all);
	txn_names(&n.set, &m->redo.log, &trips->all);
	n.idle = names_count(&n.set);
	/* What lay in a directory of the steps' may be in no log. */
	for (size_t k = 0; k < names_count(&t->remedy.replaced); k++)
		names_add_key(&n.set, names_key(&t->remedy.replaced, k));
	for (size_t k = 0; k < names_count(&t->remedy.kept); k++)
		names_add_key(&n.set, names_key(&t->remedy.kept, k));
	for (size_t k = 0; k < names_count(&n.set); k++) {
		const char *path;
		int root = key_root(names_key(&n.set, k), &path);

		note_whose(t, &trips->made, &n.whose, root, path, 0);
	}
	r = renew_old(t, m->undo.dir, trips, &n);
	for (size_t k = 0; k < names_count(&n.whose.foreign); k++)
		names_add_key(&n.set, names_key(&n.whose.foreign, k));
	if (r == 0 && !turn->place)
		r = post_moved(t->j, &trips->all, &n.set);
	/* What lies at the others now is not what the step left. */
	for (size_t k = n.own; k < names_count(&n.set); k++)
		names_add_key(&n.passing, names_key(&n.set, k));
	/* Nor is all that a merge has written. */
	for (size_t i = 0; i < t->remedy.n_merges && !t->back; i++)
		names_add(&n.passing, t->remedy.merges[i].root, t->remedy.merges[i].path);
	touchers_find(touchers, turn->place, &trips->all, &n.set, &n.shared);
	if (r == 0)
		r = find_left(t, turn, trips, touchers, &n);
	if (r == 0)
		r = post_write(t->j, m->undo.dir, &n.set,
			       &(struct post_how){.absent = &n.absent,
						  .shared = &n.shared,
						  .passing = &n.passing,
						  .foreign = &n.whose.foreign,
						  .returns = &n.whose.returns,
						  .old = &n.old,
						  .left = &n.left,
						  .n_own = n.own,
						  .edited = &n.edited});
	own_names(t->j, &n);
	names_done(&n.set);
	names_done(&n.shared);
	names_done(&n.passing);
	names_done(&n.absent);
	posts_done(&n.old);
	posts_done(&n.left);
	names_done(&n.whose.foreign);
	names_done(&n.whose.returns);
	names_done(&n.edited);
	return r;
}

static void note_change(void *data, const struct summary *s, const struct change *c)
{
	(void)s;
	names_add(data, c->root, c->path);
}

static void note_written(const struct wal *log, size_t place, struct touchers *touchers)
{
	struct rec r;
	size_t at = 0;

	while (wal_next(log, &at, &r))
		if (rec_is_in_place(&r) && !rec_is_idle(&r))
			touchers_wrote(touchers, place, r.ino);
}

/* Steps that come back are all looked at in the end: newest first, who has what. Of a file that was
 * changed by another of its names only the summary says so. */
static int note_touchers(const struct turn *turn, const struct moves *moves,
			 struct touchers *touchers)
{
	const struct mover *m = turn->m;
	struct summary head = {0};
	struct names set = {0};
	int r = 0;

	if (!m->arrived) {
		note_written(&m->undo.log, turn->place, touchers);
		txn_names(&set, &m->undo.log, moves);
		txn_names(&set, &m->redo.log, moves);
		r = summary_read(m->undo.dir, &head, note_change, &set);
	}
	summary_done(&head);
	touchers_note(touchers, turn->place, &set);
	names_done(&set);
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
		list[i].ended = t->list[i].arrived ? 0 : overlap_ended(t->list[i].undo.dir);
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
	struct touchers touchers = {0};
	int r = 0;

	trips_add(t, &trips);
	for (size_t i = 0; r == 0 && t->redo != t->back && i < t->n; i++)
		r = note_touchers(&turns[i], &trips.all, &touchers);

	/* Of two images of a path the newer must be that of the step that ended last. */
	for (size_t i = t->n; r == 0 && i-- > 0;)
		if (!turns[i].m->arrived)
			r = renew_post(t, &turns[i], &trips, &touchers);
	touchers_done(&touchers);
	moves_done(&trips.all);
	moves_done(&trips.made);
	names_done(&trips.done);
	return r;
}

int txn_look(struct txn *t)
{
	int r;

	do
		r = look(t);
	while (r < 0 && room_give(t->j, r));
	return r;
}
