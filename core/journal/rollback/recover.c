/* recover - after a crash: finishes or reverts a rollback, rolls back steps that never ended. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/overwritten.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/incomplete.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/news.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

struct witness { /* state of an interrupted step's paths before it is rolled back */
	struct touched_paths touches;
	struct step_info info;
	bool partial; /* a part had been rolled back before */
};

/* Reads a path's state, also in a locked directory: the rollback adds search permission. */
static void witness_look(struct journal *j, const char *key, struct object *ret)
{
	const char *path;
	int root = path_key_root(key, &path), r;

	do
		r = reach_see(j, root, path, ret);
	while (r < 0 && reserve_give(j, r));
	if (r < 0)
		*ret = (struct object){.mode = OBJECT_UNSEEN};
}

static int witness_take(struct txn *t, struct mover *m, struct witness *w)
{
	AUTO_PATH_SET struct path_set set = {0};
	const struct renames none = {0};
	struct rec r;
	size_t at = 0;

	store_forget_near(t->j);
	txn_names(&set, &m->undo.log, &none);
	txn_names(&set, &m->redo.log, &none);
	if (step_read_head(&m->undo.log, &w->info)) {
		w->info.ended_us = clock_wall_us();
		w->info.exit_status = 128 + 9;
	}
	while (undo_log_next(&m->undo.log, &at, &r)) {
		AUTO_FREE char *words = NULL;

		if (r.type != REC_MARK)
			continue;
		words = xstrndup(r.meta.data, r.meta.len);
		incomplete_join(&w->info.why, words);
	}
	w->partial = !undo_log_empty(&m->redo.log);
	for (size_t i = 0; i < path_set_count(&set); i++) {
		struct object before;

		witness_look(t->j, path_set_key(&set, i), &before);
		touched_paths_add(&w->touches, path_set_key(&set, i), &before);
	}
	plan_open_why(t, &w->touches, &w->info.why);
	w->info.incomplete = w->info.why;
	for (at = 0; undo_log_next(&m->undo.log, &at, &r);) {
		AUTO_FREE char *key = r.type == REC_META ? path_key_make(r.root, r.path) : NULL;
		struct touched_path *one = key ? touched_paths_find(&w->touches, key) : NULL;

		if (one)
			one->attrs_set = true;
	}
	return 0;
}

static void witness_done(struct witness *w)
{
	touched_paths_done(&w->touches);
	free(w->info.command);
	free(w->info.why);
}

/* Tells the user what a rollback after a crash lacks. While a session runs, the session says it. */
static void tell_lack(struct txn *t, const struct step_info *step, const char *how)
{
	if (t->crashed && step->why)
		journal_say(t->j, "step %" PRId64 " %s: %s", step->id, how, step->why);
}

/* Writes the step's summary: the changes of the rollback, reversed. */
static int write_summary(struct txn *t, struct mover *m, struct witness *w)
{
	struct nets nets;
	int r = nets_build(t->j, &w->touches, NULL, true, &nets);

	if (r < 0)
		return r;
	nets_count(&nets, &w->info);
	do
		r = summary_write(t->j, m->undo.dir, &w->info, w->partial, &nets);
	while (r < 0 && reserve_give(t->j, r));
	nets_done(&nets);
	return r;
}

static size_t kept_of(const struct txn *t, struct touched_paths *of)
{
	size_t n = 0;

	for (size_t i = 0; i < path_set_count(&t->remedy.kept); i++)
		n += touched_paths_find(of, path_set_key(&t->remedy.kept, i)) !=
		     NULL; /* the step's own paths */
	return n;
}

static int roll_back(struct txn *t, struct witness *seen, size_t *ret_paths)
{
	int r = txn_move(t, NULL);

	if (r == 0)
		r = unlock_give_back(t);
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		if (t->list[i].arrived)
			continue;
		*ret_paths += touched_paths_count(&seen[i].touches) - kept_of(t, &seen[i].touches);
		r = write_summary(t, &t->list[i], &seen[i]);
		if (r == 0)
			tell_lack(t, &seen[i].info, "is not back as a whole");
	}
	return r;
}

/* After a crash, settles the newest record, which may not have been performed. While the process
 * lives no record is in doubt, and other steps may have changed the record's paths. */
static int settle(struct txn *t)
{
	bool lost = t->crashed && t->recover && !t->back && t->j->rebooted;
	struct mover *last;
	int r = 0;

	for (size_t i = 0; lost && r == 0 && i < t->n; i++)
		if (!t->list[i].arrived && undo_log_empty(&t->list[i].redo.log))
			r = last_record_drop_lost(&t->list[i].undo, t->last_sign_ns);
	last = t->crashed && r == 0 ? txn_newest(t, true) : NULL;
	return last ? last_record_settle(txn_from(t, last), txn_to(t, last), t->recover) : r;
}

static int recover_run(struct txn *t, size_t *ret_paths, struct err *err)
{
	struct witness *seen = xcalloc(t->n + 1, sizeof(*seen));
	int r = settle(t);

	for (size_t i = 0; r == 0 && t->recover && i < t->n; i++)
		if (!t->list[i].arrived)
			r = witness_take(t, &t->list[i], &seen[i]);
	if (r < 0) {
		err_set(err, r, "recover an interrupted step");
	} else if (t->recover && !t->back) {
		r = roll_back(t, seen, ret_paths);
		if (r < 0 && r != -ENOSPC && r != -EDQUOT) {
			log_warn("journal", "an interrupted step cannot be rolled back: %s",
				 strerror(-r));
			t->back = true;
			placed_end(t->j); /* as turn_round() */
		} else if (r == 0) {
			r = txns_arrive(t, 1);
			plan_open_tell(t);
		}
		if (r < 0 && !t->back)
			err_set(err, r,
				"roll an interrupted step back (the next start goes on with it)");
	}
	for (size_t i = 0; i < t->n; i++)
		witness_done(&seen[i]);
	free(seen);
	return r;
}

/* Commits a step as it stands, because it cannot be rolled back; its summary says why. */
static int keep_as_is(struct txn *t, int why, struct err *err)
{
	int r = txn_write(t);

	if (r == 0)
		r = txn_move(t, NULL);
	if (r == 0)
		r = unlock_give_back(t);
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		AUTO_FREE char *words = NULL;
		struct witness w = {0};

		if (t->list[i].arrived)
			continue;
		r = witness_take(t, &t->list[i], &w);
		w.info.incomplete = true;
		words = xasprintf("interrupted, and could not be rolled back: %s", strerror(-why));
		incomplete_join(&w.info.why, words);
		tell_lack(t, &w.info, "stays");
		if (r == 0)
			r = summary_write(t->j, t->list[i].undo.dir, &w.info, w.partial,
					  &(struct nets){0});
		witness_done(&w);
	}
	if (r == 0)
		r = txns_arrive(t, 1);
	return r < 0 ? err_set(err, r, "recover an interrupted step") : 0;
}

static int recover_txn(struct txn *t, size_t *ret_paths, struct err *err)
{
	int r = recover_run(t, ret_paths, err);

	if (t->recover && t->back)
		return keep_as_is(t, r < 0 ? r : -EIO, err);
	if (t->recover || r < 0)
		return r;
	r = txns_run(t, 1, NULL, err);
	if (r == 0)
		txn_tell(t);
	return r;
}

/* What to do with a step's directory in open/. */
enum fate_open {
	OPEN_BACK,   /* roll it back */
	OPEN_NEVER,  /* it has no record: remove it */
	OPEN_LOST,   /* its log is lost, and it has objects: keep it */
	OPEN_ASTRAY, /* the path of a root is lost: keep it */
};

static bool has_objects(struct journal *j, const char *dir)
{
	AUTO_FREE char *obj = xasprintf("%s/obj", dir);
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, obj, &names);

	return r == 0 ? names.n > 0 : r != -ENOENT;
}

static enum fate_open judge_open(struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	enum fate_open fate;
	size_t at = 0;
	struct rec r;
	int e;

	if (fd < 0)
		return OPEN_BACK;
	e = undo_log_open(&log, fd, "undo", false, true);
	if (e == -ENOENT || e == -ENODATA)
		return has_objects(j, dir) ? OPEN_LOST : OPEN_NEVER;
	if (e < 0)
		return OPEN_BACK;
	for (e = 0; e < 2 && undo_log_next(&log, &at, &r);)
		e++;
	fate = e < 2 ? OPEN_NEVER : OPEN_BACK; /* nothing behind the REC_STEP */
	if (!txn_knows_roots(j, &log))
		fate = OPEN_ASTRAY;
	return fate;
}

static int write_lost(struct journal *j, const char *dir, char *why)
{
	static char none[] = "";
	const struct step_info info = {.id = atoll(strchr(dir, '/') + 1),
				       .began_us = clock_wall_us(),
				       .ended_us = clock_wall_us(),
				       .exit_status = 128 + 9,
				       .incomplete = true,
				       .command = none,
				       .why = why};
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	int r = fd;

	if (r >= 0)
		do
			r = summary_write(j, fd, &info, true, &(struct nets){0});
		while (r < 0 && reserve_give(j, r));
	return r;
}

/* Moves the step to steps/, marked as damaged, so that its objects can be found. */
static int keep_lost(struct journal *j, const char *dir, const char *what)
{
	const char *id = strchr(dir, '/') + 1;
	AUTO_FREE char *to = xasprintf("steps/%s", id);
	AUTO_FREE char *why = xasprintf("interrupted, and %s: it is not rolled back, what it took "
					"away is in '%s/%s/obj'",
					what, j->store_path, to);
	int r = write_lost(j, dir, why);

	if (r < 0)
		return r;
	if (renameat(j->store, dir, j->store, to) < 0)
		return -errno;
	journal_say(j, "step %s: %s", id, why);
	return 0;
}

/* Settles an interrupted step that cannot be rolled back. Returns 1, or 0 if it can be. */
static int settle_open(struct journal *j, const char *dir)
{
	const char *what = "its log is lost";
	int r;

	switch (judge_open(j, dir)) {
	case OPEN_BACK:
		return 0;
	case OPEN_NEVER:
		r = store_trash(j, dir);
		return r < 0 ? r : 1;
	case OPEN_ASTRAY:
		what = "the path of a directory that it changed is lost";
		break;
	case OPEN_LOST:
		break;
	}
	r = keep_lost(j, dir, what);
	return r < 0 ? r : 1;
}

static int find_open(struct journal *j, struct names *ret)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "open", &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("open/%s", names.list[i]);

		r = settle_open(j, dir);
		if (r != 0) {
			r = MIN(r, 0);
			continue;
		}
		names_add(ret, take_ptr(&dir));
	}
	return r;
}

/* Plans to skip the paths that were edited from outside. If that fails, keeps the steps as is. */
static int leave_edited(struct txn *t, const struct names *dirs)
{
	struct undo_plan *plan = NULL;
	int r = settle(t); /* removes the record of an operation that was not performed */

	if (r == 0)
		r = plan_open(t->j, dirs, t->last_sign_ns, &plan, &t->remedy);
	undo_plan_free(plan);
	if (r < 0) {
		log_warn("journal", "a step is not rolled back: %s", strerror(-r));
		t->back = true;
		placed_end(t->j); /* as turn_round() */
	}
	u64_set_sort(&t->remedy.skips);
	return 0;
}

/* Finishes one transaction: that of the file "rollback", or else the rollback of the open steps.
 * Returns 1, or 0 if there is neither. */
static int recover_one(struct journal *j, size_t *ret_paths, struct err *err)
{
	struct txn t = {.j = j, .crashed = true};
	struct names dirs = {0};
	mode_t mask;
	int r = txn_read(&t, &dirs);
	bool any = r == 0;

	if (r == -ENOENT) {
		r = find_open(j, &dirs);
		t.recover = true;
		any = dirs.n;
		for (size_t i = 0; i < dirs.n; i++)
			overwritten_save(j, dirs.list[i]);
		if (r == 0)
			r = open_last_sign(j, &dirs, &t.last_sign_ns);
		if (dirs.n)
			t.roll = (struct roll){store_seq(j), j->state->session_us};
	}
	if (r == 0 && any)
		r = txn_open(&t, &dirs);
	mask = umask(0);
	if (r == 0 && dirs.n && t.last_sign_ns)
		r = leave_edited(&t, &dirs);
	umask(mask);
	if (r == 0 && dirs.n && t.recover && !t.back)
		r = txn_write(&t);
	if (r < 0)
		err_set(err, r, "recover the undo store '%s'", j->store_path);
	mask = umask(0);
	if (r == 0 && any)
		r = recover_txn(&t, ret_paths, err);
	umask(mask);
	txn_done(&t);
	names_done(&dirs);
	return r < 0 ? r : any;
}

int undo_recover(struct journal *j, size_t *ret_paths, struct err *err)
{
	mode_t own = umask(077);
	int r = 1;

	for (int turn = 0; r > 0 && turn < 2; turn++)
		r = recover_one(j, ret_paths, err);
	umask(own);
	return MIN(r, 0);
}

int recover_redo(struct journal *j, struct err *err)
{
	mode_t own = umask(077);
	int r = redo_drop_over(j);

	umask(own);
	return r < 0 ? err_set(err, r, "clear what cannot be redone from '%s'", j->store_path) : 0;
}

int recover_unstick(struct journal *j, struct err *err)
{
	size_t paths = 0;
	int r;

	if (!j->stuck)
		return 0;
	if (j->open)
		return err_say(err, -EBUSY,
			       "a rollback is to be finished first, once the steps "
			       "that run have ended");
	r = undo_recover(j, &paths, err);
	if (r == 0)
		r = recover_redo(j, err);
	if (r < 0)
		return err_wrap(err, r, "a rollback is still to be finished");
	j->stuck = false;
	return 0;
}

int recover_open_step(struct journal *j, const char *dir, const struct roll *roll,
		      const struct u64_set *spared, struct err *err)
{
	struct txn t = {.j = j, .recover = true, .roll = *roll};
	char *one = xstrdup(dir);
	struct names dirs = {.list = &one, .n = 1};
	size_t paths = 0;
	mode_t mask = umask(0);
	int r = txn_open(&t, &dirs);

	if (r == 0)
		r = leave_edited(&t, &dirs);
	/* Not before the plan, which fills the list. */
	for (size_t i = 0; r == 0 && i < spared->n; i++)
		u64_set_add(&t.remedy.skips, spared->list[i]);
	u64_set_sort(&t.remedy.skips);
	if (r == 0 && !t.back)
		r = txn_write(&t);
	if (r < 0)
		err_set(err, r, "roll a step back");
	else
		r = recover_txn(&t, &paths, err);
	if (r == 0 && t.back) /* the step is kept */
		r = recover_redo(j, err);
	if (r < 0)
		j->stuck = true;
	umask(mask);
	txn_done(&t);
	free(one);
	return r;
}
