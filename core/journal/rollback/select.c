/* select - finds the steps that an undo or redo means, and their stores. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/journal/history/list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/open_recovered.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/step/parts.h"
#include "core/journal/store/identity.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"

/*
 * The session's folders count as one history, newest id first; a step's parts are taken together.
 * In each store only the newest steps may be undone (or redone), because records are undone in
 * reverse order. A folder that is not of the session but has a part is opened temporarily. If it
 * cannot be opened, or if later steps follow the part, the user decides.
 */

struct rack { /* the steps of one store that are not selected yet */
	struct journal *j;
	struct names names; /* by number; redo: the newest rollback's first */
	size_t n;	    /* how many of them are left */
	struct roll roll;   /* redo: the newest rollback */
	bool wanted, taken;
};

struct picker {
	const char *where; /* "steps", "redo" */
	bool redo, force;
	struct rack racks[PARTS_MAX]; /* in the order of pick->list */
	struct selected_steps *pick;
	struct err *err;
};

/* Keeps the names of the newest rollback. */
static int newest_group(struct rack *k, struct err *err)
{
	AUTO_FREE struct roll *rolls = xcalloc(k->n + 1, sizeof(*rolls));
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		AUTO_FREE char *dir = xasprintf("redo/%s", k->names.list[i]);
		AUTO_CLOSE int fd = store_open_dir(k->j, dir);

		int r = fd < 0 ? fd : undo_log_peek_roll(fd, "redo", &rolls[i]);

		if (r < 0)
			return history_step_unread(err, r, k->names.list[i]);
		if (rolls[i].number > k->roll.number)
			k->roll = rolls[i];
	}
	for (size_t i = 0; i < k->n; i++) {
		char *name = k->names.list[i];

		if (rolls[i].number != k->roll.number)
			continue;
		k->names.list[i] = k->names.list[n];
		k->names.list[n++] = name;
	}
	k->n = n;
	return 0;
}

static int rack_add(struct picker *p, struct journal *j, struct rack **ret)
{
	struct rack *k = &p->racks[p->pick->n];
	int r;

	if (p->pick->n == PARTS_MAX)
		return err_say(p->err, -E2BIG, "too many folders have parts of these steps");
	*k = (struct rack){.j = j};
	p->pick->list[p->pick->n++] = (struct share){.j = j};
	r = store_check_brought(j, p->err); /* the user may merge while a session runs */
	if (r < 0)
		return r;
	r = store_names(j, p->where, &k->names);
	k->n = k->names.n;
	*ret = k;
	if (r < 0)
		return err_set(p->err, r, "read the undo store '%s'", j->store_path);
	return p->redo ? newest_group(k, p->err) : 0;
}

/* Finds the folder's rack, or opens its journal. Returns 0 and NULL if it may be left out. */
static int rack_of(struct picker *p, const char *folder, const char *step, struct rack **ret)
{
	struct err why = {0};
	struct journal *j;
	int r;

	*ret = NULL;
	r = open_sibling(p->racks[0].j, folder, &j, &why);
	if (r > 0)
		p->pick->guests[p->pick->n_guests++] = j;
	if (r < 0 && p->force)
		return 0;
	if (r < 0)
		return err_say(p->err, r,
			       "step %s has a part in '%s', which cannot be opened (%s): --force "
			       "goes on without it",
			       step, folder, why.text);
	for (size_t i = 0; i < p->pick->n; i++)
		if (p->racks[i].j == j)
			*ret = &p->racks[i];
	return *ret ? 0 : rack_add(p, j, ret);
}

static int began(struct journal *j, const char *where, const char *name, int64_t *ret,
		 struct part_folders *parts)
{
	AUTO_FREE char *dir = xasprintf("%s/%s", where, name);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_SUMMARY struct summary s = {0};
	int r = fd < 0 ? fd : summary_load(fd, false, &s);

	if (r == 0 && parts)
		r = parts_load(fd, parts);
	*ret = s.info.began_us;
	return r;
}

/* Returns 1 if entry i of the rack is the other part of this step. */
static int same_step(const struct picker *p, const struct rack *k, size_t i, const char *name,
		     int64_t when)
{
	int64_t other;
	int r;

	if (!str_eq(k->names.list[i], name))
		return 0;
	r = began(k->j, p->where, name, &other, NULL);
	if (r < 0 && p->force)
		return 0;
	return r < 0 ? history_step_unread(p->err, r, name) : other == when;
}

static void take(struct picker *p, struct rack *k, size_t i)
{
	names_add(&p->pick->list[k - p->racks].dirs,
		  xasprintf("%s/%s", p->where, k->names.list[i]));
}

/* Takes the other part of the step, which must be the newest in its store. */
static int take_part(struct picker *p, struct rack *k, const char *name, int64_t when)
{
	for (size_t i = k->n; i-- > 0;) {
		int r = same_step(p, k, i, name, when);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		if (i == k->n - 1) {
			k->n--;
			take(p, k, i);
			return 0;
		}
		if (p->force)
			return 0;
		return err_say(p->err, -EBUSY,
			       "step %s has a part in '%s', where later steps stand: undo those "
			       "there first, or --force to leave that part as it is",
			       name, k->j->folder);
	}
	return 0; /* undone or evicted there */
}

static int take_with_parts(struct picker *p, struct rack *k)
{
	const char *name = k->names.list[--k->n];
	struct part_folders parts = {0};
	int64_t when;
	int r;

	take(p, k, k->n);
	r = began(k->j, p->where, name, &when, &parts);
	if (r < 0)
		r = history_step_unread(p->err, r, name);
	for (size_t i = 0; r == 0 && i < parts.n; i++) {
		struct rack *other;

		if (str_eq(parts.list[i], k->j->folder))
			continue;
		r = rack_of(p, parts.list[i], name, &other);
		if (r == 0 && other)
			r = take_part(p, other, name, when);
	}
	part_folders_free(&parts);
	return r;
}

static int select_undo(struct picker *p, size_t n)
{
	size_t own = p->pick->n;
	int r = 0;

	for (size_t got = 0; r == 0 && got < n; got++) {
		struct rack *best = NULL;
		int64_t best_id = 0;

		for (size_t i = 0; i < own; i++) {
			struct rack *k = &p->racks[i];
			int64_t id = k->n ? atoll(k->names.list[k->n - 1]) : 0;

			if (llabs(id) > llabs(best_id)) {
				best = k;
				best_id = id;
			}
		}
		if (!best)
			break;
		r = take_with_parts(p, best);
	}
	return r;
}

/* Wants the whole rollback that took the other part, which must be the newest in its store. */
static int want_part(struct picker *p, struct rack *k, const char *name, int64_t when)
{
	for (size_t i = 0; i < k->names.n; i++) {
		int r = same_step(p, k, i, name, when);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		if (i < k->n || k->taken)
			k->wanted = true;
		else if (!p->force)
			return err_say(p->err, -EBUSY,
				       "step %s has a part in '%s', where something else was "
				       "undone since: redo that first, or --force to leave that "
				       "part as it is",
				       name, k->j->folder);
	}
	return 0;
}

/* Takes all steps of the store's newest rollback, and wants their parts in other stores. */
static int redo_with_parts(struct picker *p, struct rack *k)
{
	int r = 0;

	for (size_t i = k->n; r == 0 && i-- > 0;) {
		struct part_folders parts = {0};
		int64_t when;

		take(p, k, i);
		r = began(k->j, p->where, k->names.list[i], &when, &parts);
		if (r < 0)
			r = history_step_unread(p->err, r, k->names.list[i]);
		for (size_t m = 0; r == 0 && m < parts.n; m++) {
			struct rack *other;

			if (str_eq(parts.list[m], k->j->folder))
				continue;
			r = rack_of(p, parts.list[m], k->names.list[i], &other);
			if (r == 0 && other)
				r = want_part(p, other, k->names.list[i], when);
		}
		part_folders_free(&parts);
	}
	k->taken = true;
	return r;
}

static int select_redo(struct picker *p)
{
	const struct roll *best = &p->racks[0].roll;
	bool more = true;
	int r = 0;

	for (size_t i = 0; i < p->pick->n; i++)
		if (p->racks[i].roll.number > best->number)
			best = &p->racks[i].roll;
	for (size_t i = 0; i < p->pick->n; i++)
		p->racks[i].wanted = p->racks[i].n && roll_same(&p->racks[i].roll, best);
	while (r == 0 && more) {
		more = false;
		for (size_t i = 0; r == 0 && i < p->pick->n; i++) {
			struct rack *k = &p->racks[i];

			if (!k->wanted || k->taken)
				continue;
			r = redo_with_parts(p, k);
			more = true;
		}
	}
	return r;
}

/* Drops the stores without a selected step. */
static void drop_empty(struct selected_steps *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < ret->n; i++) {
		if (ret->list[i].dirs.n)
			ret->list[n++] = ret->list[i];
		else
			names_done(&ret->list[i].dirs);
	}
	ret->n = n;
}

int select_steps(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 struct selected_steps *ret, struct err *err)
{
	bool redo = kind == UNDO_REDO;
	struct picker p = {.where = redo ? "redo" : "steps",
			   .redo = redo,
			   .force = flags & UNDO_FORCE,
			   .pick = ret,
			   .err = err};
	struct journal *k = j;
	struct rack *rack;
	int r;

	*ret = (struct selected_steps){0};
	do
		r = rack_add(&p, k, &rack);
	while (r == 0 && (k = k->sibling) != j);
	if (r == 0)
		r = redo ? select_redo(&p) : select_undo(&p, n);
	for (size_t i = 0; i < ret->n; i++)
		names_done(&p.racks[i].names);
	drop_empty(ret);
	if (r == 0 && ret->n == 0)
		r = err_say(err, -ENOENT, "there is nothing to %s", redo ? "redo" : "undo");
	if (r < 0)
		select_steps_done(ret);
	return r;
}

void select_steps_done(struct selected_steps *p)
{
	for (size_t i = 0; i < p->n; i++)
		names_done(&p->list[i].dirs);
	while (p->n_guests)
		journal_close(p->guests[--p->n_guests]);
	p->n = 0;
}
