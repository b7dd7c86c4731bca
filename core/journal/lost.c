/* lost - after power was lost: records of operations that the disk never saw. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/disk.h"
#include "core/journal/txn.h"

/*
 * Each record was on the disk before its operation began, and operations reach the disk in their
 * order, perhaps late. So what is there is the work of all records up to some point, and of none
 * behind it. From the newest one backwards: one that slots and inode numbers show not to have been
 * performed goes, with all behind it; one that was performed ends the search. Those that cannot
 * tell (something was made, or dressed, or written) may stay: to undo what was not done changes
 * nothing, as long as what they speak of is where they say, and only the others move things.
 *
 * In a rollback the same is asked of the answers; then every record that was answered up to that
 * point is done, though the log that is emptied may still have it.
 */

enum verdict {
	PERFORMED,
	NOT_PERFORMED,
	UNKNOWN,
};

struct item {
	struct mover *mover;
	struct side *side;
	struct rec rec;
	size_t start;
};

struct items {
	struct item *list;
	size_t n;
};

static void items_add(struct items *i, struct mover *m, struct side *side)
{
	size_t at = sizeof(struct head), start = at;
	struct rec rec;

	for (; wal_next(&side->log, &at, &rec); start = at) {
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
	struct obj o;

	store_forget_near(j);
	return spot_look(j, root, path, &at, &o) < 0 || !o.mode ? 0 : o.ino;
}

static uint64_t ino_in_slot(const struct side *s, uint64_t slot)
{
	struct obj o;
	char name[24];

	slot_name(name, slot);
	return obj_stat(s->obj, name, &o) < 0 || !o.mode ? 0 : o.ino;
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
	const struct side *from = txn_from(t, i->mover);
	size_t at = 0;
	struct rec r;

	while (i->rec.src && wal_next(&from->log, &at, &r))
		if (r.seq == i->rec.src)
			return ino_in_slot(from, r.slot) ? NOT_PERFORMED : PERFORMED;
	return UNKNOWN;
}

static enum verdict judge(const struct txn *t, const struct item *i)
{
	const struct rec *r = &i->rec;
	uint64_t a, b;

	if (rec_is_idle(r))
		return UNKNOWN;
	a = ino_at(t->j, r->root, r->path);
	switch (r->type) {
	case REC_GONE:
		return judge_gone(i, a);
	case REC_RENAME:
	case REC_XCHG:
		/* What the disk never saw made is at neither place: what was there before tells. */
		b = ino_at(t->j, r->root2, r->path2);
		if (b == r->ino || (r->type == REC_XCHG && a && a == r->ino2))
			return PERFORMED;
		return a == r->ino || (b && b == r->ino2) ? NOT_PERFORMED : UNKNOWN;
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
	case REC_TYPES:
		break;
	}
	return UNKNOWN;
}

/* ---- taking them off --------------------------------------------------------------------------
 */

static int drop(const struct item *i)
{
	char slot[24];

	if (i->rec.type == REC_GONE && i->rec.flags & REC_LINKED) {
		slot_name(slot, i->rec.slot);
		if (unlinkat(i->side->obj, slot, 0) < 0 && errno != ENOENT)
			return -errno;
	}
	wal_set_tail(&i->side->log, i->start);
	return 0;
}

/* Index of the newest that was performed, or n. */
static int drop_lost(const struct txn *t, const struct items *all, size_t *ret)
{
	size_t n_drop = 0, i;

	for (i = 0; i < all->n; i++) {
		enum verdict v = judge(t, &all->list[i]);

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

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of this step's records, those that were answered, by answers from `first` on, are done. */
static void drop_answered(const struct txn *t, struct mover *m, const struct items *all,
			  size_t first)
{
	AUTO_FREE uint64_t *srcs = xcalloc(all->n + 1, sizeof(*srcs));
	struct wal *from = &txn_from(t, m)->log;
	size_t n = 0, at = sizeof(struct head), start = at;
	struct rec r;

	for (size_t i = first; i < all->n; i++)
		if (all->list[i].mover == m && all->list[i].rec.src)
			srcs[n++] = all->list[i].rec.src;
	if (n)
		qsort(srcs, n, sizeof(*srcs), by_number);
	for (; n && wal_next(from, &at, &r); start = at)
		if (bsearch(&r.seq, srcs, n, sizeof(*srcs), by_number)) {
			wal_set_tail(from, start);
			return;
		}
}

int txn_settle_lost(struct txn *t)
{
	struct items all = {0};
	struct mover *newest = txn_newest(t, true);
	size_t done = 0;
	bool answers;
	struct rec r;
	size_t start;
	int e;

	if (!newest)
		return 0;
	answers =
		wal_last(&txn_to(t, newest)->log, wal_tail(&txn_to(t, newest)->log), &r, &start) &&
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
			drop_answered(t, &t->list[i], &all, done);
	free(all.list);
	store_forget_near(t->j);
	return e;
}
