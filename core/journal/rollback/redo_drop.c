/* redo_drop - finds undone steps that can no longer be redone after another redo. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

/*
 * A step that was interrupted, and rolled back at the next start, leaves what was undone: until a
 * redo brings it back. What had been undone before it began would then come back over it, and the
 * order of the history would be that of nothing that ever was.
 *
 * What has gone in one store goes in all: a rollback, and a step with all that was rolled back with
 * any part of it. Once some of it has gone nothing tells what else is to go, so it is found before
 * the redo begins and is a part of that: its transaction names it, and stores in which nothing
 * comes back have one for that alone.
 */

struct undone { /* it lies in redo/, and does not come back */
	struct journal *j;
	char *dir;
	struct roll roll;
	int64_t id, began_us; /* 0: it cannot have parts elsewhere, or cannot be read */
	bool unread;	      /* it stays, and a redo says what it is */
	bool gone;
};

struct undones {
	struct undone *list;
	size_t n;
};

static void undones_done(struct undones *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->list[i].dir);
	free(all->list);
}

static struct txn *txn_of(struct txn *list, size_t n, const struct journal *j)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].j == j)
			return &list[i];
	return NULL;
}

uint64_t txn_last_began(const struct txn *t)
{
	uint64_t began = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].arrived)
			began = MAX(began, overlap_began(&t->list[i].undo.log));
	return began;
}

/* A step that changed granted places alone ends no redo (see commit.c). */
static bool is_only_notes(struct journal *j, const char *name)
{
	AUTO_FREE char *dir = xasprintf("steps/%s", name);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct summary s = {0};
	bool notes = fd >= 0 && summary_load(fd, false, &s) == 0 && s.info.elsewhere &&
		     !s.info.incomplete && !s.info.unprotected;

	summary_done(&s);
	return notes;
}

/* When the last of the kept steps and of those that come back began, as a number of the store, if
 * that was later. One whose log cannot be read says nothing. */
static int newest_begin(struct journal *j, const struct txn *t, uint64_t *ret)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "steps", &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *log = xasprintf("steps/%s/undo", names[i]);
		uint64_t began;

		if (wal_peek_first(j->store, log, &began) == 0 && began > *ret &&
		    !is_only_notes(j, names[i]))
			*ret = MAX(*ret, began);
	}
	if (t)
		*ret = MAX(*ret, txn_last_began(t));
	store_names_free(names, n);
	return r;
}

static int read_undone(struct journal *j, struct undone *u)
{
	AUTO_CLOSE int fd = store_open_dir(j, u->dir);
	struct step_info step = {0};
	struct wal log = WAL_NONE;
	int r;

	if (fd < 0)
		return fd;
	if (j->sibling != j && log_look(j, &log, fd, "undo") == 0)
		step_read_head(&log, &step);
	wal_close(&log);
	free(step.command);
	u->id = step.id;
	u->began_us = step.began_us;
	r = wal_peek_roll(fd, "redo", &u->roll);
	u->unread = step_is_damaged(r);
	return u->unread ? 0 : r;
}

static bool comes_back(const struct txn *t, const char *dir)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (str_eq(t->list[i].dir, dir))
			return true;
	return false;
}

/* One store's, and which of them are over for what is in that store alone. */
static int add_store(struct undones *all, struct journal *j, uint64_t begin, const struct txn *t)
{
	char **names = NULL;
	size_t n = 0, first = all->n;
	int r = store_names(j, "redo", &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("redo/%s", names[i]);
		struct undone *u;

		if (comes_back(t, dir))
			continue;
		all->list = xrealloc(all->list, (all->n + 1) * sizeof(*all->list));
		u = &all->list[all->n++];
		*u = (struct undone){.j = j, .dir = take_ptr(&dir)};
		r = read_undone(j, u);
	}
	if (r == 0 && all->n > first)
		r = newest_begin(j, t, &begin);
	for (size_t i = first; i < all->n; i++)
		all->list[i].gone = !all->list[i].unread && all->list[i].roll.number <= begin;
	store_names_free(names, n);
	return r;
}

static bool hang_together(const struct undone *a, const struct undone *b)
{
	if (a->id && a->id == b->id && a->began_us == b->began_us)
		return true;
	return !a->unread && !b->unread && roll_same(&a->roll, &b->roll);
}

/* To one that hangs together with one that has gone. False: there is none. */
static bool spread(struct undones *all)
{
	bool any = false;

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->n && !all->list[i].gone; k++)
			if (all->list[k].gone && hang_together(&all->list[i], &all->list[k]))
				any = all->list[i].gone = true;
	return any;
}

/* What has gone goes with the transaction of its store. */
static int note(struct txn *list, size_t *n, struct undones *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct undone *u = &all->list[i];
		struct txn *t = txn_of(list, *n, u->j);

		if (!u->gone)
			continue;
		if (!t) {
			int r;

			if (*n == PARTS_MAX)
				return -E2BIG;
			t = &list[(*n)++];
			*t = (struct txn){.j = u->j, .redo = true, .roll = list->roll};
			r = txn_open(t, &(struct group){0});
			if (r < 0)
				return r;
		}
		group_add(&t->drops, take_ptr(&u->dir));
	}
	return 0;
}

/* In all stores of the session, j's first; but for those where a rollback is to be finished. */
static int collect(struct undones *all, struct journal *j, uint64_t begin, struct txn *list,
		   size_t n)
{
	struct journal *k = j;
	int r;

	do
		r = k != j && k->stuck ? 0
				       : add_store(all, k, k == j ? begin : 0, txn_of(list, n, k));
	while (r == 0 && (k = k->sibling) != j);
	while (r == 0 && spread(all))
		;
	return r;
}

int drops_find(struct txn *list, size_t *n)
{
	struct undones all = {0};
	int r = collect(&all, list->j, 0, list, *n);

	if (r == 0)
		r = note(list, n, &all);
	undones_done(&all);
	return r;
}

static int drop(struct journal *j, const char *dir)
{
	int r;

	do
		r = store_drop_undone(j, dir);
	while (r < 0 && room_give(j, r));
	return r;
}

int txn_drop(struct txn *t)
{
	int r = 0;

	for (size_t i = 0; r == 0 && !t->back && i < t->drops.n; i++) {
		r = drop(t->j, t->drops.dirs[i]);
		if (r == -ENOENT) /* it had gone when the last process died */
			r = 0;
	}
	return r;
}

/* Killed on the way it is found again: what has gone for another's sake goes before that. */
int undone_drop_before(struct journal *j, uint64_t begin)
{
	struct undones all = {0};
	int r = collect(&all, j, begin, NULL, 0);

	for (size_t i = all.n; r == 0 && i-- > 0;)
		if (all.list[i].gone)
			r = drop(all.list[i].j, all.list[i].dir);
	undones_done(&all);
	return r;
}
