/* power_loss - after power loss: removes records of operations that never reached the disk. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/log/undo_log_format.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/u64_set.h"
#include "core/os/file.h"

/*
 * Each record was on the disk before its operation began, and operations reach the disk in order,
 * perhaps late. So the folder shows the operations of all records up to some point, and of none
 * after it. The search goes from the newest record backwards. If slots and inode numbers show that
 * a record was not performed, it and all later ones are removed; a record that was performed ends
 * the search. A record that cannot show it (an object was created, or its metadata or content
 * changed) may stay: to undo an operation that was not performed changes nothing, as long as the
 * object is at the record's path, and only the other kinds move objects.
 *
 * In a rollback the inverse records are checked in the same way. Every record whose inverse was
 * performed is done, even if the log that is emptied still has it.
 */

enum verdict {
	PERFORMED,
	NOT_PERFORMED,
	UNKNOWN,
};

struct item {
	struct mover *mover;
	struct capture *side;
	struct rec rec;
	size_t start;
};

struct items {
	struct item *list;
	size_t n;
};

static void items_add(struct items *i, struct mover *m, struct capture *side)
{
	size_t at = sizeof(struct head), start = at;
	struct rec rec;

	for (; undo_log_next(&side->log, &at, &rec); start = at) {
		if (i->n % 256 == 0)
			i->list = xrealloc(i->list, (i->n + 256) * sizeof(*i->list));
		i->list[i->n++] = (struct item){m, side, rec, start};
	}
}

static int newest_first(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->rec.seq > y->rec.seq ? -1 : x->rec.seq < y->rec.seq;
}

/* ---- was it performed? ------------------------------------------------------------------------
 */

static uint64_t ino_at(struct journal *j, int root, const char *path)
{
	struct spot at;
	struct object o;

	store_forget_near(j);
	return root_look(j, root, path, &at, &o) < 0 || !o.mode ? 0 : o.ino;
}

static uint64_t ino_in_slot(const struct capture *s, uint64_t slot)
{
	struct object o;
	char name[24];

	store_slot_name(name, slot);
	return object_stat(s->obj, name, &o) < 0 || !o.mode ? 0 : o.ino;
}

static enum verdict judge_gone(const struct item *i, uint64_t here)
{
	uint64_t kept = ino_in_slot(i->side, i->rec.slot);

	if (i->rec.flags & REC_LINKED)
		return !kept ? UNKNOWN : here == kept ? NOT_PERFORMED : PERFORMED;
	return kept ? PERFORMED : here == i->rec.ino ? NOT_PERFORMED : UNKNOWN;
}

/* What came out of a slot of the log that is emptied. */
static enum verdict judge_new(const struct txn *t, const struct item *i)
{
	const struct capture *from = txn_from(t, i->mover);
	size_t at = 0;
	struct rec r;

	while (i->rec.src && undo_log_next(&from->log, &at, &r))
		if (r.seq == i->rec.src)
			return ino_in_slot(from, r.slot) ? NOT_PERFORMED : PERFORMED;
	return UNKNOWN;
}

/* ---- moves: an object may have come by a place more than once ---------------------------------
 */

struct move_of {
	int root, root2;
	const char *from, *to;
};

/* Did this record move the object? */
static bool moves(const struct rec *r, uint64_t ino, struct move_of *ret)
{
	bool other = r->type == REC_XCHG && r->ino2 == ino && r->ino != ino;

	if (rec_is_idle(r) || (r->type != REC_RENAME && r->type != REC_XCHG) ||
	    (r->ino != ino && !other))
		return false;
	*ret = other ? (struct move_of){r->root2, r->root, r->path2, r->path}
		     : (struct move_of){r->root, r->root2, r->path, r->path2};
	return true;
}

/* Is it at a place where it was before list[i] (older), or after it? */
static bool was_at(const struct txn *t, const struct items *all, size_t i, uint64_t ino, bool older)
{
	struct move_of m, next;

	if (!moves(&all->list[i].rec, ino, &m))
		return false;
	while (ino_at(t->j, older ? m.root : m.root2, older ? m.from : m.to) != ino) {
		do {
			if (older ? ++i >= all->n : i-- == 0)
				return false;
		} while (!moves(&all->list[i].rec, ino, &next) ||
			 (older ? next.root2 != m.root || !str_eq(next.to, m.from)
				: next.root != m.root2 || !str_eq(next.from, m.to)));
		m = next;
	}
	return true;
}

static enum verdict judge_move(const struct txn *t, const struct items *all, size_t i)
{
	const struct rec *r = &all->list[i].rec;
	uint64_t there;

	for (int k = 0; k < (r->type == REC_XCHG ? 2 : 1); k++) {
		bool before = was_at(t, all, i, k ? r->ino2 : r->ino, true);
		bool after = was_at(t, all, i, k ? r->ino2 : r->ino, false);

		if (before != after)
			return after ? PERFORMED : NOT_PERFORMED;
	}
	/* What the disk never saw made is at neither place: what was there before tells. */
	there = ino_at(t->j, r->root2, r->path2);
	return there && there == r->ino2 ? NOT_PERFORMED : UNKNOWN;
}

static enum verdict judge(const struct txn *t, const struct items *all, size_t at)
{
	const struct item *i = &all->list[at];
	const struct rec *r = &i->rec;

	if (rec_is_idle(r))
		return UNKNOWN;
	switch (r->type) {
	case REC_GONE:
		return judge_gone(i, ino_at(t->j, r->root, r->path));
	case REC_RENAME:
	case REC_XCHG:
		return judge_move(t, all, at);
	case REC_XINODE:
		return ino_in_slot(i->side, r->slot) == r->ino ? PERFORMED : NOT_PERFORMED;
	case REC_NEW:
		return judge_new(t, i);
	case REC_DIR_NEW:
	case REC_DIR_GONE:
	case REC_META:
	case REC_CONTENT:
	case REC_DTIME:
	case REC_STEP:
	case REC_MARK:
	case REC_INTENT:
	case REC_TYPES:
		break;
	}
	return UNKNOWN;
}

/* ---- taking them off --------------------------------------------------------------------------
 */

static int drop(const struct item *i)
{
	int r = capture_drop_link(i->side, &i->rec);

	return r < 0 ? r : undo_log_cut(&i->side->log, i->start);
}

/* Index of the newest that was performed, or n. */
static int drop_lost(const struct txn *t, const struct items *all, size_t *ret)
{
	size_t n_drop = 0, i;

	for (i = 0; i < all->n; i++) {
		enum verdict v = judge(t, all, i);

		if (v == PERFORMED)
			break;
		if (v == NOT_PERFORMED)
			n_drop = i + 1;
	}
	*ret = i;
	for (i = 0; i < n_drop; i++) {
		int r = drop(&all->list[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Of this step's records, those that were answered, by answers from `first` on, are done. */
static int drop_answered(const struct txn *t, struct mover *m, const struct items *all,
			 size_t first)
{
	struct undo_log *from = &txn_from(t, m)->log;
	size_t at = sizeof(struct head), start = at;
	struct u64_set srcs = {0};
	struct rec r;
	int e = 0;

	for (size_t i = first; i < all->n; i++)
		if (all->list[i].mover == m && all->list[i].rec.src)
			u64_set_add(&srcs, all->list[i].rec.src);
	u64_set_sort(&srcs);
	for (; srcs.n && undo_log_next(from, &at, &r); start = at)
		if (u64_set_have(&srcs, r.seq)) {
			e = undo_log_cut(from, start);
			break;
		}
	u64_set_done(&srcs);
	return e;
}

int power_loss_settle(struct txn *t)
{
	struct items all = {0};
	struct mover *newest;
	size_t done = 0;
	bool answers;
	struct rec r;
	size_t start;
	int e = 0;

	newest = txn_newest(t, true);
	if (!newest)
		return 0;
	answers = undo_log_last(&txn_to(t, newest)->log, undo_log_tail(&txn_to(t, newest)->log), &r,
				&start) &&
		  r.src;
	if (!answers && !t->recover)
		return 0; /* a rollback that has not begun */
	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].arrived)
			items_add(&all, &t->list[i],
				  answers ? txn_to(t, &t->list[i]) : txn_from(t, &t->list[i]));
	if (all.n)
		qsort(all.list, all.n, sizeof(*all.list), newest_first);
	e = drop_lost(t, &all, &done);
	for (size_t i = 0; e == 0 && answers && i < t->n; i++)
		if (!t->list[i].arrived)
			e = drop_answered(t, &t->list[i], &all, done);
	free(all.list);
	store_forget_near(t->j);
	return e;
}
