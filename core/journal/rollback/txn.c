/* txn - the transaction of an undo or redo of steps: all or nothing, resumable, reversible. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/history/background.h"
#include "core/journal/history/saved_redo.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/borrowed_dirs.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * Theory of operation.
 *
 * The file "rollback" in the store is the transaction: while it exists, the steps that it names are
 * being moved. Its first line has the direction: "undo" and "recover" empty the steps' undo logs,
 * "redo" their redo logs; a word "back" after it says that the transaction was turned round. Lines
 * that begin with a word have the resolution of conflicts: "skip" names a record to skip, "merge" a
 * file that gets its content in the end, "mine" a path with an external edit. The file is replaced
 * as a whole (rename), and removed when every step has arrived in its directory: undone ones in
 * redo/, others in steps/. Records of several steps are taken in the reverse order of their
 * sequence numbers, which count through the whole store.
 *
 * A process that opens the store for writing and finds the file goes on in its direction (replay.c
 * finds out where the last process stopped). If it finds open steps and no such file, it rolls them
 * back by a transaction of kind "recover"; redo restores their changes until the crash. If a
 * recovery cannot be finished, it is turned round and the step is committed as it stands.
 */

/* ---- the file ---------------------------------------------------------------------------------
 */

int txn_write(const struct txn *t)
{
	AUTO_BUF struct buf b = BUF_INIT;
	int r;

	buf_fmt(&b, "%s %s %" PRIu64 " %" PRIu64 "\n",
		t->recover ? "recover"
		: t->redo  ? "redo"
			   : "undo",
		t->back ? "back" : "on", t->roll.number, t->roll.us);
	for (size_t i = 0; i < t->n; i++)
		buf_fmt(&b, "%s\n", t->list[i].dir);
	resolution_put(&b, &t->remedy);
	do
		r = io_write_file(t->j->store, ROLLBACK_FILE, 0600, b.data, b.len, false);
	while (r < 0 && reserve_give(t->j, r));
	return r;
}

int txn_read(struct txn *t, struct names *dirs)
{
	AUTO_FREE char *text = NULL;
	char kind[16], reach[8], *save = NULL, *line;
	int r = io_read_file(t->j->store, ROLLBACK_FILE, (size_t)1 << 30, &text, NULL);

	if (r < 0)
		return r;
	line = strtok_r(text, "\n", &save);
	if (!line || sscanf(line, "%15s %7s %" SCNu64 " %" SCNu64, kind, reach, &t->roll.number,
			    &t->roll.us) < 3) /* without the last it is of an older cordon */
		return -EBADMSG;
	t->redo = str_eq(kind, "redo");
	t->recover = str_eq(kind, "recover");
	t->back = str_eq(reach, "back");
	while ((line = strtok_r(NULL, "\n", &save))) {
		r = resolution_get(line, &t->remedy);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (!str_starts(line, "drop ")) /* of an older cordon: redo_drop.c finds it */
			names_add(dirs, xstrdup(line));
	}
	return 0;
}

/* ---- open and close ---------------------------------------------------------------------------
 */

/* Returns the place of the step's directory after the transaction; heap. */
static char *target_of(const struct txn *t, const struct mover *m)
{
	const char *id = strrchr(m->dir, '/') + 1;
	bool undone = t->redo == t->back;

	if (t->back && !t->recover)
		return xstrdup(m->dir);
	return xasprintf("%s/%s", undone ? "redo" : "steps", id);
}

static int open_log(struct capture *s, const char *name, bool cut)
{
	int r = undo_log_open(&s->log, s->dir, name, true, cut);

	/* A log whose creation was torn never held a record. */
	if (r == -ENODATA && unlinkat(s->dir, name, 0) < 0)
		return -errno;
	if (r == -ENODATA || r == -ENOENT)
		r = undo_log_create(&s->log, s->dir, name);
	return r;
}

static int mover_open(struct txn *t, struct mover *m)
{
	int r;

	m->undo = m->redo = (struct capture)CAPTURE_NONE;
	m->undo.j = m->redo.j = t->j;
	m->undo.back = m->redo.back = true;
	m->undo.dir = store_open_dir(t->j, m->dir);
	if (m->undo.dir == -ENOENT) {
		m->arrived = m->foreign = true;
		return 0;
	}
	if (m->undo.dir < 0)
		return m->undo.dir;
	/* The step will hold other objects: their size must be measured again. */
	if (unlinkat(m->undo.dir, "held", 0) < 0 && errno != ENOENT)
		return -errno;
	m->undo.obj = openat(m->undo.dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	m->redo.dir = fcntl(m->undo.dir, F_DUPFD_CLOEXEC, 3);
	m->redo.obj = fcntl(m->undo.obj, F_DUPFD_CLOEXEC, 3);
	if (m->undo.obj < 0 || m->redo.dir < 0 || m->redo.obj < 0)
		return -errno;
	do
		r = open_log(&m->undo, "undo", t->crashed);
	while (r < 0 && reserve_give(t->j, r));
	if (r < 0)
		return r;
	do
		r = open_log(&m->redo, "redo", t->crashed);
	while (r < 0 && reserve_give(t->j, r));
	return r;
}

static void count(struct txn *t)
{
	t->total = t->done = 0;
	for (size_t i = 0; i < t->n; i++) {
		size_t at = 0;
		struct rec r;

		while (!t->list[i].arrived &&
		       undo_log_next(&txn_from(t, &t->list[i])->log, &at, &r))
			t->total++;
	}
}

int txn_open(struct txn *t, const struct names *dirs)
{
	background_hold(t->j);
	t->quiet = true;
	if (!t->crashed)
		placed_begin(t->j);
	t->list = xcalloc(dirs->n + 1, sizeof(*t->list));
	for (size_t i = 0; i < dirs->n; i++) {
		int r;

		t->list[i].dir = xstrdup(dirs->list[i]);
		t->n++;
		if (!strchr(dirs->list[i], '/'))
			return -EBADMSG;
		r = mover_open(t, &t->list[i]);
		if (r < 0)
			return r;
	}
	count(t);
	return 0;
}

void txn_done(struct txn *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->list[i].dir);
		capture_done(&t->list[i].undo);
		capture_done(&t->list[i].redo);
	}
	free(t->list);
	resolution_done(&t->remedy);
	borrowed_clear(t->j);
	t->j->excluded = NULL;
	if (!t->j->owning)
		placed_end(t->j);
	if (t->quiet)
		background_release(t->j);
}

/* ---- the work ---------------------------------------------------------------------------------
 */

/* Returns the number of the log's last record, or 0 if it has none but the step's head. Numbers
 * begin at 1. */
static uint64_t last_seq(const struct undo_log *log)
{
	struct rec r;
	size_t start;

	return undo_log_last(log, undo_log_tail(log), &r, &start) && r.type != REC_STEP ? r.seq : 0;
}

static struct mover *newest(struct txn *t)
{
	struct mover *best = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].next && (!best || t->list[i].next >= best->next))
			best = &t->list[i];
	return best;
}

struct mover *txn_newest(struct txn *t, bool either)
{
	for (size_t i = 0; i < t->n; i++) {
		struct mover *m = &t->list[i];

		m->next = m->arrived ? 0 : last_seq(&txn_from(t, m)->log);
		if (either && !m->arrived)
			m->next = MAX(m->next, last_seq(&txn_to(t, m)->log));
	}
	return newest(t);
}

/* Returns whether the rollback replaces an external edit at the record's path or below, for which
 * an earlier rollback skipped the record. It stays marked: the way back restores the edit. */
static bool makes_way(const struct txn *t, const struct rec *r)
{
	for (size_t i = 0; i < path_set_count(&t->remedy.replaced); i++) {
		const char *path;

		if (path_key_root(path_set_key(&t->remedy.replaced, i), &path) == r->root &&
		    path_is_beneath(path, r->path))
			return true;
	}
	return false;
}

static bool is_settled(const struct txn *t, const struct rec *r)
{
	for (size_t i = 0; i < t->remedy.n_merges; i++)
		if (t->remedy.merges[i].root == r->root &&
		    str_eq(t->remedy.merges[i].path, r->path))
			return true;
	return path_set_has(&t->remedy.kept, r->root, r->path);
}

/*
 * Returns whether to drop the record, the inverse of a merge (REC_VOID). An undo merges again if it
 * is to. A redo restores the merged file, as its undo found it, unless the path is merged again or
 * kept.
 */
static bool is_over(const struct txn *t, const struct rec *r)
{
	return (r->flags & REC_VOID) && !t->back && (!t->redo || is_settled(t, r));
}

/* Returns the flags of r's inverse. If a merged file was edited from outside afterwards, it is not
 * merged again: it counts as any other change. */
static unsigned answer_flags(const struct txn *t, const struct rec *r)
{
	if (r->flags & REC_VOID)
		return REC_AFTER;
	if (!(r->flags & REC_AFTER))
		return 0;
	return !t->back && path_set_has(&t->remedy.replaced, r->root, r->path) ? 0 : REC_VOID;
}

static int move_one(struct txn *t, struct mover *m)
{
	struct capture *from = txn_from(t, m), *to = txn_to(t, m);
	struct rec r;
	size_t start;
	int e;

	/* Recovery can tell one record too many, not two. The next may be another step's. */
	if (from->log.behind)
		return undo_log_catch_up(&from->log);
	if (!undo_log_last(&from->log, undo_log_tail(&from->log), &r, &start))
		return 0;
	if (r.flags & REC_SKIPPED)
		return replay_skip(from, to, makes_way(t, &r));
	if (!t->back && u64_set_have(&t->remedy.skips, r.seq))
		return replay_skip(from, to, false);
	if (is_over(t, &r))
		return undo_log_cut(&from->log, start);
	to->flags = answer_flags(t, &r);
	e = replay_record(from, to);
	to->flags = 0;
	return e;
}

int txn_move(struct txn *t, const struct undo_progress *progress)
{
	struct mover *m;
	int r = t->crashed ? unlock_recall(t) : 0;

	if (r < 0)
		return r;
	t->j->reported_fresh = false;
	t->j->excluded = t->back ? NULL : &t->remedy.skips;
	store_forget_near(t->j);
	/* A move changes the logs of its step alone: those of the others are not read again. */
	for (m = txn_newest(t, false); m; m = newest(t)) {
		do
			r = move_one(t, m);
		while (r < 0 && reserve_give(t->j, r));
		if (r < 0)
			return r;
		m->next = last_seq(&txn_from(t, m)->log);
		t->done++;
		if (progress && progress->tick && t->done % 32 == 0 &&
		    !progress->tick(progress->data, t->done, t->total))
			return -ECANCELED;
	}
	return t->back ? 0 : replay_renew(t);
}

int txn_place(struct txn *t)
{
	struct capture *to = txn_to(t, &t->list[0]);
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->remedy.n_merges && !t->list[0].arrived; i++) {
		char slot[24];

		if (!t->back) {
			to->flags = REC_AFTER;
			r = replay_merged(to, &t->remedy.merges[i]);
			to->flags = 0;
			continue;
		}
		store_slot_name(slot, t->remedy.merges[i].slot);
		if (unlinkat(to->obj, slot, 0) < 0 && errno != ENOENT)
			r = -errno;
	}
	return r;
}

static int carry(struct txn *t, struct mover *m, bool home)
{
	AUTO_FREE char *to = target_of(t, m);
	const char *from = m->dir;
	int r = 0;

	if (!str_eq(to, from))
		r = home ? renameat(t->j->store, to, t->j->store, from)
			 : renameat(t->j->store, from, t->j->store, to);
	if (r < 0)
		return -errno;
	m->arrived = !home;
	return 0;
}

static void carry_home(struct txn *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].foreign && t->list[i].arrived && carry(t, &t->list[i], true) < 0)
			break;
}

/* Called before the step arrives. An undo notes the edits that it has replaced, and the files that
 * it has left, whose content before the steps the step holds. A redo removes the note. */
static int mark_edits(const struct txn *t, const struct mover *m)
{
	if (t->back)
		return 0;
	if (t->redo)
		return saved_redo_unmark(m->undo.dir);
	return saved_redo_mark(t->j, m->undo.dir, &m->redo.log, &t->remedy.replaced,
			       t->recover && t->crashed);
}

/* Moves the steps' directories to their places, oldest first; on an error, back if possible. */
static int carry_all(struct txn *t)
{
	int r = 0;

	for (size_t i = t->n; r == 0 && i-- > 0;) {
		struct mover *m = &t->list[i];

		if (m->arrived)
			continue;
		/* A redo that was turned round keeps the number of the rollback, which has parts in
		 * other stores. */
		r = t->redo ? 0 : undo_log_set_roll(&m->redo.log, &t->roll);
		if (r == 0)
			r = mark_edits(t, m);
		if (r == 0)
			r = carry(t, m, false);
	}
	if (r < 0)
		carry_home(t);
	return r;
}

int txn_carry(struct txn *t)
{
	int r;

	do
		r = carry_all(t);
	while (r < 0 && reserve_give(t->j, r));
	return r;
}

int txn_end(struct txn *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].foreign)
			continue;
		undo_log_trim(&t->list[i].undo.log);
		undo_log_trim(&t->list[i].redo.log);
	}
	reserve_refill(t->j);
	return unlinkat(t->j->store, ROLLBACK_FILE, 0) < 0 ? store_trash(t->j, ROLLBACK_FILE) : 0;
}

bool txn_arrived(const struct txn *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].arrived)
			return true;
	return false;
}
