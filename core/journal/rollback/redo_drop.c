/* redo_drop - drops undone steps that can no longer be redone, because a newer step is kept. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/history.h"
#include "core/journal/history/list.h"
#include "core/journal/history/redo_stack.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/step/step.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"

/*
 * An undone step can no longer be redone once its store keeps a step that began after the rollback:
 * its changes would be applied on top of that step, in an order that never was. A commit removes
 * all undone steps (history/commit.c). The others remain where a step that a crash interrupted is
 * redone, or where a process died before it had removed them. So the undone steps are compared with
 * the kept ones before and after each redo, and at each start.
 *
 * A step that is dropped in one store is dropped in all that are open: with its rollback, and with
 * all steps that were rolled back with any part of it. These go first, because the others can be
 * found again if the process dies meanwhile.
 */

struct undone { /* an undone step that is not redone */
	struct journal *j;
	char *dir;
	struct roll roll;
	int64_t id, began_us; /* 0: it has no parts elsewhere, or cannot be read */
	bool unread;	      /* it cannot be read; it stays, and its redo says so */
	bool over;	      /* its own store has a newer step */
	bool gone;	      /* to be dropped: it is over, or belongs to one that is */
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

/* A step that changed granted places alone ends no redo (see commit.c). */
static bool is_only_notes(struct journal *j, const char *name)
{
	AUTO_FREE char *dir = xasprintf("steps/%s", name);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_SUMMARY struct summary s = {0};

	return fd >= 0 && summary_load(fd, false, &s) == 0 && s.info.elsewhere &&
	       !s.info.incomplete && !s.info.unprotected;
}

/* Finds the sequence number at which the newest kept step began. Steps with an unreadable log, and
 * notes, do not count. */
static int newest_begin(struct journal *j, uint64_t *ret)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "steps", &names);

	*ret = 0;
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *log = xasprintf("steps/%s/undo", names.list[i]);
		uint64_t began;

		if (undo_log_peek_first(j->store, log, &began) == 0 && began > *ret &&
		    !is_only_notes(j, names.list[i]))
			*ret = began;
	}
	return r;
}

static int read_undone(struct journal *j, struct undone *u)
{
	AUTO_CLOSE int fd = store_open_dir(j, u->dir);
	struct step_info step = {0};
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	int r;

	if (fd < 0)
		return fd;
	if (j->sibling != j && log_look(j, &log, fd, "undo") == 0)
		step_read_head(&log, &step);
	free(step.command);
	u->id = step.id;
	u->began_us = step.began_us;
	r = undo_log_peek_roll(fd, "redo", &u->roll);
	u->unread = history_step_is_damaged(r);
	return u->unread ? 0 : r;
}

/* Adds the undone steps of one store. */
static int add_store(struct undones *all, struct journal *j)
{
	AUTO_NAMES struct names names = {0};
	size_t first = all->n;
	uint64_t begin = 0;
	int r = store_names(j, "redo", &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		struct undone *u;

		all->list = xrealloc(all->list, (all->n + 1) * sizeof(*all->list));
		u = &all->list[all->n++];
		*u = (struct undone){.j = j, .dir = xasprintf("redo/%s", names.list[i])};
		r = read_undone(j, u);
	}
	if (r == 0 && all->n > first)
		r = newest_begin(j, &begin);
	for (size_t i = first; i < all->n; i++) {
		struct undone *u = &all->list[i];

		u->gone = u->over = !u->unread && u->roll.number <= begin;
	}
	return r;
}

static bool hang_together(const struct undone *a, const struct undone *b)
{
	if (a->id && a->id == b->id && a->began_us == b->began_us)
		return true;
	return !a->unread && !b->unread && roll_same(&a->roll, &b->roll);
}

/* Marks each step that belongs to a marked one. Returns whether it marked one. */
static bool spread(struct undones *all)
{
	bool any = false;

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->n && !all->list[i].gone; k++)
			if (all->list[k].gone && hang_together(&all->list[i], &all->list[k]))
				any = all->list[i].gone = true;
	return any;
}

static int newest_first(const void *a, const void *b)
{
	const struct undone *x = a, *y = b;
	long long i = llabs(atoll(strchr(x->dir, '/') + 1));
	long long k = llabs(atoll(strchr(y->dir, '/') + 1));

	return i < k ? 1 : i > k ? -1 : 0;
}

/* Drops marked steps. over: those whose own store keeps a newer step; else the others. */
static int drop_all(const struct undones *all, bool over)
{
	int r = 0;

	if (all->n)
		qsort(all->list, all->n, sizeof(*all->list), newest_first);
	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct undone *u = &all->list[i];

		if (!u->gone || u->over != over)
			continue;
		do
			r = redo_drop_undone(u->j, u->dir);
		while (r < 0 && reserve_give(u->j, r));
	}
	return r;
}

/* Returns whether a step is kept that is newer than an undone one. If not, no undone step is over:
 * a step that began after a rollback has a higher number than its steps. */
static bool may_be_over(const struct journal *j)
{
	uint64_t kept = 0;
	AUTO_NAMES struct names names = {0};
	bool may = store_names(j, "redo", &names) < 0;

	if (names.n)
		store_highest(j, "steps", &kept);
	for (size_t i = 0; !may && i < names.n; i++)
		may = (uint64_t)llabs(atoll(names.list[i])) < kept;
	return may;
}

int redo_drop_over(struct journal *j)
{
	struct undones all = {0};
	struct journal *k = j;
	bool may = false;
	int r = 0;

	do
		may |= may_be_over(k);
	while (!may && (k = k->sibling) != j);
	k = j;
	if (may)
		do /* an unfinished rollback still has its steps in that store */
			r = k != j && k->stuck ? 0 : add_store(&all, k);
		while (r == 0 && (k = k->sibling) != j);
	while (r == 0 && spread(&all))
		;
	if (r == 0)
		r = drop_all(&all, false);
	if (r == 0)
		r = drop_all(&all, true);
	undones_done(&all);
	return r;
}
