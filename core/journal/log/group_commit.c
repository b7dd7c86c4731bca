/* group_commit - several waiting operations share one sync of the log. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/log/group_commit.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/log/undo_log_format.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

/*
 * Theory of operation. With journal.durable an operation's record is on the disk before it is
 * performed. When other calls wait already, an operation that may wait (step_may_wait()) is taken
 * back at its sync: what it would have recorded is kept here, its log is cut, its call stays open.
 * So is the next one, until none waits. Then all that was kept goes into the log as one record, one
 * sync brings it to the disk, and every call is served again from its beginning, in the order in
 * which they came: judged, resolved and looked up anew. Most push just what is on the disk, and are
 * performed at once. What has become another record by what was performed meanwhile syncs for
 * itself, as it always did.
 *
 * Nobody reads intents but power_loss.c, after power was lost, and only if each record behind them
 * is one of them. That they mean the same then, and in any order:
 *
 * - no two of them speak of the same path; one that would is not kept, its call just waits;
 * - directories are not moved, exchanged or removed under an intent: those do not wait, and what
 * was kept before such a move is not written;
 * - a sync for any other record brings the logs of all steps to the disk that lie there only as
 *   intents (side_sync).
 */

#define INTENTS_MAX ((size_t)1 << 20) /* bytes; what does not fit waits without being kept */

static struct disk_rec *rec_at(const struct buf *recs, size_t at)
{
	return (struct disk_rec *)(void *)(recs->data + at);
}

bool recs_next(const struct buf *recs, size_t *at, struct rec *r)
{
	while (recs->len - *at >= sizeof(struct disk_rec) + 8) {
		const struct disk_rec *d = rec_at(recs, *at);
		struct disk_rec whole = *d;

		whole.type = d->type ? d->type : REC_NEW;
		if (!disk_rec_fits(&whole, recs->len - *at))
			return false;
		*at += d->len;
		if (!d->type)
			continue;
		disk_rec_read(d, r);
		return !r->path[d->path_len] && !r->path2[d->path2_len];
	}
	return false;
}

static bool same(const struct rec *a, const struct rec *b)
{
	return a->type == b->type && a->flags == b->flags && a->root == b->root &&
	       a->root2 == b->root2 && a->src == b->src && a->slot == b->slot && a->ino == b->ino &&
	       a->ino2 == b->ino2 && str_eq(a->path, b->path) &&
	       str_eq(a->path2, b->path2 ? b->path2 : "") && a->meta.len == b->meta.len &&
	       (!a->meta.len || memcmp(a->meta.data, b->meta.data, a->meta.len) == 0);
}

static bool take_between(struct buf *recs, const struct rec *r, size_t from, size_t to, size_t *end)
{
	size_t at = from;
	struct rec i;

	while (at < to && recs_next(recs, &at, &i))
		if (same(&i, r)) {
			rec_at(recs, (size_t)(i.path - recs->data) - sizeof(struct disk_rec))
				->type = 0;
			*end = at;
			return true;
		}
	return false;
}

bool recs_take(struct buf *recs, const struct rec *r, size_t *from)
{
	size_t end = 0, start = from ? *from : 0;
	bool found = take_between(recs, r, start, recs->len, &end) ||
		     take_between(recs, r, 0, start, &end);

	if (found && from)
		*from = end;
	return found;
}

/* ---- while they are gathered ------------------------------------------------------------------
 */

static bool speaks_of(const struct rec *a, const struct rec *b)
{
	const char *other = b->path2 && *b->path2 ? b->path2 : NULL;

	return (a->root == b->root && str_eq(a->path, b->path)) ||
	       (other && a->root == b->root2 && str_eq(a->path, other));
}

/* One operation has several records of one path. */
static bool is_spoken_of(const struct journal *j, const struct rec *r)
{
	for (const struct step *s = j->open; s; s = s->next) {
		size_t at = 0;
		struct rec i;

		while (recs_next(&s->side.intents.recs, &at, &i)) {
			struct rec i2 = {.root = i.root2, .path = i.path2};
			struct rec r2 = {.root = r->root2, .path = r->path2};

			if (speaks_of(&i, r) || (*i.path2 && speaks_of(&i2, r)) ||
			    (r2.path && *r2.path && (speaks_of(&i, &r2))))
				return true;
		}
	}
	return false;
}

void intents_drop(struct side *s)
{
	buf_done(&s->intents.recs);
	s->intents = (struct intents){.recs = BUF_INIT};
}

int intents_keep(struct step *s, size_t mark)
{
	struct intents *i = &s->side.intents;
	const struct wal *log = &s->side.log;
	size_t tail = wal_tail(log), at = mark;
	struct rec r;

	if (i->ready || (i->recs.len && i->turn != s->j->dirs_turn))
		intents_drop(&s->side);
	if (i->recs.len + (tail - mark) > INTENTS_MAX)
		return -JOURNAL_WAITS;
	while (wal_next(log, &at, &r))
		if (is_spoken_of(s->j, &r))
			return -JOURNAL_WAITS;
	i->turn = s->j->dirs_turn;
	buf_add(&i->recs, log->map + mark, tail - mark);
	return -JOURNAL_WAITS;
}

void step_may_wait(struct step *s, bool may)
{
	s->may_wait = may && s->j->options.durable;
}

static int bring(struct step *s)
{
	struct intents *i = &s->side.intents;
	struct rec rec = {.type = REC_INTENT, .path = ""};
	int r;

	if (i->turn != s->j->dirs_turn) {
		intents_drop(&s->side);
		return 0;
	}
	rec.meta = (struct span){i->recs.data, i->recs.len};
	r = side_push(&s->side, &rec);
	if (r == 0)
		r = side_sync(&s->side);
	if (r < 0)
		intents_drop(&s->side);
	else
		i->ready = true;
	return r;
}

int journal_gather_sync(struct journal *j)
{
	struct journal *k = j;
	int r = 0;

	do
		for (struct step *s = k->open; s && r == 0; s = s->next)
			if (s->side.intents.recs.len && !s->side.intents.ready)
				r = bring(s);
	while ((k = k->sibling) != j);
	return r;
}

/* What was not performed after all shall not be taken for performed: with the next sync. */
void journal_gather_end(struct journal *j)
{
	struct journal *k = j;

	do
		for (struct step *s = k->open; s; s = s->next) {
			struct rec r, none = {.type = REC_INTENT, .path = ""};
			size_t at = 0;

			if (recs_next(&s->side.intents.recs, &at, &r) && s->side.intents.ready &&
			    side_push(&s->side, &none) < 0)
				log_warn("journal", "an operation that failed is still announced");
			intents_drop(&s->side);
		}
	while ((k = k->sibling) != j);
}

/* ---- when they are performed ------------------------------------------------------------------
 */

bool intents_match(struct side *s, const struct rec *r)
{
	if (!s->intents.ready)
		return false;
	if (recs_take(&s->intents.recs, r, &s->intents.next))
		return true;
	intents_drop(s);
	return false;
}

uint64_t intents_slot(struct side *s, enum rec_type type, int root, const char *path, uint64_t ino)
{
	size_t at = 0;
	struct rec r;

	while (s->intents.ready && recs_next(&s->intents.recs, &at, &r))
		if (r.type == type && r.root == root && r.ino == ino && str_eq(r.path, path))
			return r.slot;
	return wal_slot(&s->log);
}
