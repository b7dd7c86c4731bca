/* txn_run - runs the transactions of an undo or redo, one for each store. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/store.h"

/*
 * Theory of operation.
 *
 * Each store has its own transaction, with its own file "rollback" (txn.c). While the process lives
 * the transactions are one: all are checked, all begin, all records are moved; only then the first
 * arrives, and until then an error turns all of them round. After a crash each store is recovered
 * by itself (recover.c): a transaction whose file was written goes on in its direction. So a
 * rollback that died between two of these files, or two of the arrivals, may have happened in one
 * folder and not in another. The lists then have the step on both sides, and undo or redo takes the
 * part that is there.
 */

static int forget(struct journal *j)
{
	return unlinkat(j->store, ROLLBACK_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int txns_begin(struct txn *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = txn_write(&list[i]);
	for (size_t i = 0; r < 0 && i < n; i++) /* nothing has been changed */
		if (forget(list[i].j) < 0)
			list[i].j->stuck = true;
	return r;
}

static int move_all(struct txn *list, size_t n, const struct undo_progress *progress)
{
	size_t done = 0, total = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		total += list[i].total;
	for (size_t i = 0; r == 0 && i < n; i++) {
		list[i].done = done;
		list[i].total = total;
		r = txn_move(&list[i], progress);
		done = list[i].done;
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		r = txn_place(&list[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = unlock_give_back(&list[i]);
	return r;
}

static int arrive(struct txn *t)
{
	int r = txn_carry(t);

	return r == 0 ? txn_end(t) : r;
}

int txns_arrive(struct txn *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = txn_look(&list[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = arrive(&list[i]);
	return r;
}

static bool any_arrived(const struct txn *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (txn_arrived(&list[i]))
			return true;
	return false;
}

static int turn_round(struct txn *list, size_t n)
{
	int r;

	for (size_t i = 0; i < n; i++) {
		list[i].back = true;
		placed_end(list[i].j); /* after a failure the notes may be wrong */
		/* Without the word "back" the next start would go on in the old direction. */
		if (txn_write(&list[i]) < 0)
			log_warn("journal",
				 "the end of a cancelled rollback could not be recorded");
	}
	r = move_all(list, n, NULL);
	return r < 0 ? r : txns_arrive(list, n);
}

static void stick(struct txn *list, size_t n, bool stuck)
{
	for (size_t i = 0; i < n; i++)
		list[i].j->stuck = stuck;
}

/* Returns " at '<path>'" for the record that could not be undone, or ""; heap. */
static char *stopped_at(struct txn *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mover *m = txn_newest(&list[i], false);
		struct undo_log *log = m ? &txn_from(&list[i], m)->log : NULL;
		struct rec r;
		size_t start;

		if (log && undo_log_last(log, undo_log_tail(log), &r, &start))
			return xasprintf(" at '%s'", r.path);
	}
	return xstrdup("");
}

int txns_run(struct txn *list, size_t n, const struct undo_progress *progress, struct err *err)
{
	AUTO_FREE char *at = NULL;
	int r = move_all(list, n, progress), back;

	if (r == 0)
		r = txns_arrive(list, n);
	if (r < 0)
		at = stopped_at(list, n);
	if (r < 0 && !list->back && !any_arrived(list, n)) {
		back = turn_round(list, n);
		stick(list, n, back < 0);
		if (back < 0)
			return err_set(err, back,
				       "roll back%s, and then put things back (the next start "
				       "tries again)",
				       at);
		if (r == -CAPTURE_MOVING)
			return err_say(err, -EAGAIN,
				       "everything is as it was: stopped%s, which another program "
				       "is writing to: stop it, or undo again",
				       at);
		return err_set(err, r, "everything is as it was: roll back%s", at);
	}
	stick(list, n, r < 0);
	return r < 0 ? err_set(err, r, "roll back%s", at) : 0;
}
