/* recover - what a dead process left: a rollback under way, steps that never ended. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/journal/txn.h"

struct witness { /* what the paths of an interrupted step look like before it is rolled back */
	struct touch *touches;
	struct summary sum;
};

static int witness_take(struct txn *t, struct mover *m, struct witness *w)
{
	struct names set = {0};
	const struct moves none = {0};
	struct rec r;
	size_t at = 0;

	txn_names(&set, &m->undo.log, &none);
	txn_names(&set, &m->redo.log, &none);
	if (wal_next(&m->undo.log, &at, &r) && r.type == REC_STEP) {
		struct get g = {.p = r.meta.data, .end = r.meta.data + r.meta.len};

		w->sum.info.id = (int64_t)get_u64(&g);
		w->sum.info.kind = get_u32(&g);
		w->sum.info.began_us = (int64_t)get_u64(&g);
		w->sum.info.command = xstrdup(get_str(&g).data);
		w->sum.info.ended_us = clock_wall_us();
		w->sum.info.exit_status = 128 + 9;
	}
	while (wal_next(&m->undo.log, &at, &r)) {
		AUTO_FREE char *words = NULL;

		if (r.type != REC_MARK)
			continue;
		words = xstrndup(r.meta.data, r.meta.len);
		mark_join(&w->sum.info.why, words);
	}
	w->sum.info.incomplete = w->sum.info.why;
	w->sum.partial = !wal_empty(&m->redo.log);
	for (struct name *n = set.set; n; n = n->hh.next) {
		struct touch *touch = xcalloc(1, sizeof(*touch));
		const char *path;
		int root = key_root(n->key, &path);
		struct spot spot;

		touch->path = xstrdup(n->key);
		if (spot_look(t->j, root, path, &spot, &touch->before) < 0)
			touch->before = (struct obj){.mode = OBJ_UNSEEN};
		HASH_ADD_KEYPTR(hh, w->touches, touch->path, strlen(touch->path), touch);
	}
	names_done(&set);
	return 0;
}

static void witness_done(struct witness *w)
{
	struct touch *t, *next;

	HASH_ITER (hh, w->touches, t, next) {
		HASH_DEL(w->touches, t);
		free(t->path);
		free(t);
	}
	summary_done(&w->sum);
}

/* The rollback went from after to before: turn the summary round. */
static void invert(struct summary *s)
{
	size_t created = s->info.created;

	s->info.created = s->info.deleted;
	s->info.deleted = created;
	for (size_t i = 0; i < s->n; i++) {
		struct change *c = &s->changes[i];
		struct change_side side = c->before;
		char *path = c->path;

		c->before = c->after;
		c->after = side;
		if (c->kind == CHANGE_CREATED)
			c->kind = CHANGE_DELETED;
		else if (c->kind == CHANGE_DELETED)
			c->kind = CHANGE_CREATED;
		else if (c->kind == CHANGE_RENAMED) {
			c->path = c->old_path;
			c->old_path = path;
		}
	}
}

static int roll_back(struct txn *t, struct witness *seen, size_t *ret_paths)
{
	int r = txn_move(t, NULL);

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		struct summary *sum = &seen[i].sum;

		if (t->list[i].arrived)
			continue;
		*ret_paths += HASH_COUNT(seen[i].touches);
		r = summary_build(t->j, seen[i].touches, sum);
		invert(sum);
		if (r < 0)
			break;
		do
			r = summary_write(t->j, t->list[i].undo.dir, sum);
		while (r < 0 && room_give(t->j, r));
	}
	return r;
}

static int recover_run(struct txn *t, size_t *ret_paths, struct err *err)
{
	struct witness *seen = xcalloc(t->n + 1, sizeof(*seen));
	/* A step that is rolled back while we live has nothing in doubt, and others may have gone
	 * on with what its newest record speaks of. */
	int r = t->crashed && t->j->rebooted ? txn_settle_lost(t) : 0;
	struct mover *last = t->crashed && r == 0 ? txn_newest(t, true) : NULL;

	if (last)
		r = apply_settle(txn_from(t, last), txn_to(t, last), t->recover);
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
		} else if (r == 0) {
			r = txns_arrive(t, 1);
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

/* The step cannot be rolled back: it stays as it is, and says so. */
static int keep_as_is(struct txn *t, int why, struct err *err)
{
	int r = txn_write(t);

	if (r == 0)
		r = txn_move(t, NULL);
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		AUTO_FREE char *words = NULL;
		struct witness w = {0};

		if (t->list[i].arrived)
			continue;
		r = witness_take(t, &t->list[i], &w);
		w.sum.info.incomplete = true;
		words = xasprintf("interrupted, and could not be rolled back: %s", strerror(-why));
		mark_join(&w.sum.info.why, words);
		if (r == 0)
			r = summary_write(t->j, t->list[i].undo.dir, &w.sum);
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
	return txns_run(t, 1, NULL, err);
}

/* Directories that died before their first record. */
static bool never_began(struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct wal log = WAL_NONE;
	size_t at = 0;
	struct rec r;
	int e;

	if (fd < 0)
		return false;
	e = wal_open(&log, fd, "undo", false, true);
	if (e == -ENOENT || e == -ENODATA)
		return true;
	if (e < 0)
		return false;
	for (e = 0; e < 2 && wal_next(&log, &at, &r);)
		e++;
	wal_close(&log);
	return e < 2; /* nothing behind the REC_STEP */
}

static int find_open(struct journal *j, struct group *ret)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "open", &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("open/%s", names[i]);
		bool empty = never_began(j, dir);

		if (empty || parts_decided(j, dir)) {
			r = empty ? store_trash(j, dir) : parts_publish(j, dir);
			continue;
		}
		ret->dirs = xrealloc(ret->dirs, (ret->n + 1) * sizeof(*ret->dirs));
		ret->dirs[ret->n++] = take_ptr(&dir);
	}
	store_names_free(names, n);
	return r;
}

int undo_recover(struct journal *j, size_t *ret_paths, struct err *err)
{
	mode_t own = umask(0);
	int e = joint_recover(j, err);

	umask(own);
	if (e < 0)
		return e;
	for (int turn = 0; turn < 2; turn++) {
		struct txn t = {.j = j, .crashed = true};
		struct group dirs = {0};
		mode_t mask;
		int r = txn_read(&t, &dirs);

		if (r == -ENOENT) {
			r = find_open(j, &dirs);
			t.recover = true;
			t.group = dirs.n ? store_seq(j) : 0;
		}
		if (r == 0 && dirs.n)
			r = txn_open(&t, &dirs);
		if (r == 0 && dirs.n && t.recover && !t.back)
			r = txn_write(&t);
		if (r < 0)
			err_set(err, r, "recover the undo store '%s'", j->store_path);
		mask = umask(0);
		if (r == 0 && dirs.n)
			r = recover_txn(&t, ret_paths, err);
		umask(mask);
		txn_done(&t);
		if (r < 0 || dirs.n == 0) {
			group_done(&dirs);
			return r;
		}
		group_done(&dirs);
	}
	return 0;
}

int undo_unstick(struct journal *j, struct err *err)
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
	if (r < 0)
		return err_wrap(err, r, "a rollback is still to be finished");
	j->stuck = false;
	return 0;
}

int undo_open_step(struct journal *j, const char *dir, struct err *err)
{
	struct txn t = {.j = j, .recover = true, .group = store_seq(j)};
	char *one = xstrdup(dir);
	struct group dirs = {.dirs = &one, .n = 1};
	size_t paths = 0;
	mode_t mask = umask(0);
	int r = txn_open(&t, &dirs);

	if (r == 0)
		r = txn_write(&t);
	if (r < 0)
		err_set(err, r, "roll a step back");
	else
		r = recover_txn(&t, &paths, err);
	if (r < 0)
		j->stuck = true;
	umask(mask);
	txn_done(&t);
	free(one);
	return r;
}
