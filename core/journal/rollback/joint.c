/* joint - one transaction over several stores: decided in one of them, finished in all. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

/*
 * Theory of operation.
 *
 * Each store has its own transaction (txn.c). When several move together, every store has the file
 * "joint" as well, written first: the folders, each with a NUL behind it. The store of the first
 * one decides. Its file "rollback" is written last and removed last, so while it is there, all of
 * them are on their way, in the direction that it names (turning round begins there, too), and
 * while it is not, nothing has been moved yet, or all have arrived.
 *
 * Whoever opens one of the stores for writing and finds "joint" opens the others and goes on. A
 * store that has "rollback" when the deciding one has none forgets it: nothing was moved.
 */

static int joint_write(struct txn *list, size_t n)
{
	AUTO_BUF struct buf names = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		buf_add(&names, list[i].j->folder, strlen(list[i].j->folder) + 1);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = io_write_file(list[i].j->store, JOINT_FILE, 0600, names.data, names.len,
				  list[i].j->options.durable);
	return r;
}

static int forget(struct journal *j, const char *name)
{
	return unlinkat(j->store, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int txns_begin(struct txn *list, size_t n)
{
	int r = n > 1 ? joint_write(list, n) : 0;

	for (size_t i = n; r == 0 && i-- > 0;)
		r = txn_write(&list[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = sync_names(list[i].j);
	for (size_t i = 0; r < 0 && i < n; i++) /* undecided: it never was */
		if (forget(list[i].j, ROLLBACK_FILE) < 0 || forget(list[i].j, JOINT_FILE) < 0)
			list[i].j->stuck = true;
	return r;
}

/* ---- the way ----------------------------------------------------------------------------------
 */

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
		r = txn_give_back(&list[i]);
	return r;
}

static int carry_all(struct txn *list, size_t n)
{
	int r = 0;

	for (size_t i = n; r == 0 && i-- > 0;) {
		r = txn_carry(&list[i]);
		for (size_t k = i + 1; r < 0 && k < n; k++)
			txn_carry_home(&list[k]);
	}
	return r;
}

int txns_arrive(struct txn *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = txn_look(&list[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = sync_all(list[i].j);
	if (r == 0)
		r = carry_all(list, n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = txn_drop(&list[i]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = sync_all(list[i].j);
	for (size_t i = n; r == 0 && i-- > 0;) {
		r = txn_end(&list[i]);
		if (r == 0 && n > 1 && forget(list[i].j, JOINT_FILE) < 0)
			log_warn("journal", "'%s' is left", JOINT_FILE); /* alone it says nothing */
	}
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
		placed_end(list[i].j); /* what failed half-way is not as it was noted */
		/* Without the word the next start would go on instead: all or nothing as well. */
		if (txn_write(&list[i]) < 0)
			log_warn("journal", "a rollback that turned round could not be noted");
	}
	r = move_all(list, n, NULL);
	return r < 0 ? r : txns_arrive(list, n);
}

static void stick(struct txn *list, size_t n, bool stuck)
{
	for (size_t i = 0; i < n; i++)
		list[i].j->stuck = stuck;
}

/* " at '<path>'", where there is one; heap. */
static char *stopped_at(struct txn *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mover *m = txn_newest(&list[i], false);
		struct wal *log = m ? &txn_from(&list[i], m)->log : NULL;
		struct rec r;
		size_t start;

		if (log && wal_last(log, wal_tail(log), &r, &start))
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
		return err_set(err, r, "everything is as it was: roll back%s", at);
	}
	stick(list, n, r < 0);
	return r < 0 ? err_set(err, r, "roll back%s", at) : 0;
}

/* ---- after a crash ----------------------------------------------------------------------------
 */

static int joint_load(struct journal *j, struct folders *ret)
{
	return folders_load(j->store, JOINT_FILE, ret);
}

static bool under_way(const struct journal *j)
{
	return faccessat(j->store, ROLLBACK_FILE, F_OK, 0) == 0;
}

/* Does this store speak of the same rollback, and is it decided there? */
static bool decided(struct journal *first, const struct folders *f)
{
	struct folders same;
	bool yes = under_way(first) && joint_load(first, &same) == 0;

	if (!yes)
		return false;
	yes = same.n == f->n;
	for (size_t i = 0; yes && i < f->n; i++)
		yes = str_eq(same.list[i], f->list[i]);
	folders_free(&same);
	return yes;
}

static int resume(struct txn *t, struct journal *j)
{
	struct group dirs = {0};
	struct mover *last;
	int r;

	*t = (struct txn){.j = j, .crashed = true};
	r = txn_read(t, &dirs);
	if (r == 0)
		r = txn_open(t, &dirs);
	group_done(&dirs);
	if (r == 0 && j->rebooted)
		r = txn_settle_lost(t);
	last = r == 0 ? txn_newest(t, true) : NULL;
	return last ? apply_settle(txn_from(t, last), txn_to(t, last), false) : r;
}

/* All stores that still are on their way, the deciding one first. */
static int go_on(struct journal **js, size_t n_js, struct err *err)
{
	struct txn list[PARTS_MAX];
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_js; i++)
		if (under_way(js[i]))
			r = resume(&list[n++], js[i]);
	for (size_t i = 1; r == 0 && i < n; i++) {
		list[i].back = list->back;
		r = txn_write(&list[i]);
	}
	r = r < 0 ? err_set(err, r, "go on with it") : txns_run(list, n, NULL, err);
	if (r == 0 && n)
		txn_tell(list);
	for (size_t i = 0; i < n; i++)
		txn_done(&list[i]);
	return r;
}

/* It was never decided: whatever stands in this store goes back. */
static int go_back(struct journal *j, struct err *err)
{
	struct txn t;
	int r;

	if (!under_way(j))
		return 0;
	r = resume(&t, j);
	t.back = true;
	if (r == 0)
		r = txn_write(&t);
	r = r < 0 ? err_set(err, r, "go back with it") : txns_run(&t, 1, NULL, err);
	if (r == 0)
		txn_tell(&t);
	txn_done(&t);
	return r;
}

struct peers { /* by the list of the file "joint" */
	struct journal *js[PARTS_MAX], *opened[PARTS_MAX];
	size_t n, n_opened;
	bool first_gone;
};

static int open_peers(struct journal *j, const struct folders *f, struct peers *p, struct err *err)
{
	for (size_t i = 0; i < f->n; i++) {
		int r = siblings_get(j, f->list[i], false, &p->js[p->n], err);

		if (r > 0)
			p->opened[p->n_opened++] = p->js[p->n];
		if (r >= 0) {
			p->n++;
			continue;
		}
		if (r != -ENOENT)
			return r;
		/* Gone, and its history with it. */
		log_warn("journal", "a rollback goes on without '%s'", f->list[i]);
		p->first_gone = p->first_gone || i == 0;
	}
	return 0;
}

int joint_recover(struct journal *j, struct err *err)
{
	struct peers p = {0};
	struct folders f;
	int r = joint_load(j, &f);

	if (r < 0 || f.n == 0)
		return r < 0 ? err_set(err, r, "read '%s/" JOINT_FILE "'", j->store_path) : 0;
	r = open_peers(j, &f, &p, err);
	if (r == 0 && (p.first_gone || decided(p.js[0], &f)))
		r = go_on(p.js, p.n, err);
	else if (r == 0)
		r = go_back(j, err);
	if (r == 0)
		r = forget(j, JOINT_FILE);
	while (p.n_opened)
		journal_close(p.opened[--p.n_opened]);
	folders_free(&f);
	return r < 0 ? err_wrap(err, r, "a rollback in several folders is to be finished first")
		     : 0;
}
