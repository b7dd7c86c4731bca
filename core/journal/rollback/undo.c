/* undo - undo and redo: selects the steps, plans, and runs the transaction. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/edits.h"
#include "core/journal/history/list.h"
#include "core/journal/history/session_limits.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/space.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/parts.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"

static void add_id(struct undo_plan *p, int64_t id)
{
	size_t at = 0;

	while (at < p->n_ids && llabs(p->ids[at]) > llabs(id))
		at++;
	if (at < p->n_ids && p->ids[at] == id)
		return;
	p->ids = xrealloc(p->ids, (p->n_ids + 1) * sizeof(*p->ids));
	memmove(p->ids + at + 1, p->ids + at, (p->n_ids - at) * sizeof(*p->ids));
	p->ids[at] = id;
	p->n_ids++;
}

static void name_it(char **path, const char *base)
{
	char *whole = path_join(base, *path);

	free(*path);
	*path = whole;
}

/* Appends `more`, the plan of j's folder, to p, and frees it. */
static void add_plan(struct undo_plan *p, struct undo_plan *more, const struct journal *j,
		     bool first)
{
	for (size_t i = 0; i < more->n_ids; i++)
		add_id(p, more->ids[i]);
	p->entries =
		xrealloc(p->entries, (p->n_entries + more->n_entries + 1) * sizeof(*p->entries));
	for (size_t i = 0; i < more->n_entries; i++) {
		struct undo_entry *e = &p->entries[p->n_entries++];

		*e = more->entries[i];
		if ((!first || e->root) && e->root >= 0 && e->root < j->n_roots)
			e->base = xstrdup(j->roots[e->root].path);
		if (e->own) /* shown like another folder's */
			e->root = 0;
	}
	p->barriers = xrealloc(p->barriers,
			       (p->n_barriers + more->n_barriers + 1) * sizeof(*p->barriers));
	for (size_t i = 0; i < more->n_barriers; i++) {
		struct barrier *b = &p->barriers[p->n_barriers++];

		*b = more->barriers[i];
		for (size_t k = 0; !first && k < b->n_paths; k++)
			name_it(&b->paths[k], j->folder);
	}
	p->n_paths += more->n_entries;
	p->n_conflicts += more->n_conflicts;
	p->n_stops += more->n_stops;
	more->n_entries = more->n_barriers = 0;
	undo_plan_free(more);
}

static uint64_t seal_of(const struct journal *j, const struct resolution *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n_merges; i++) {
		const struct merged *one = &m->merges[i];
		const char *root = j->roots[one->root].path;
		uint64_t h = XXH3_64bits_withSeed(root, strlen(root) + 1, one->mode);

		h = XXH3_64bits_withSeed(one->path, strlen(one->path) + 1, h);
		h = XXH3_64bits_withSeed(one->external.data, one->external.len, h);
		sum += XXH3_64bits_withSeed(one->text.data, one->text.len, h);
	}
	return sum;
}

static struct merged *merge_of(struct resolution *m, const struct undo_entry *e)
{
	for (size_t i = 0; i < m->n_merges; i++) {
		struct merged *one = &m->merges[i];

		if (one->root == e->root && str_eq(one->now, e->path))
			return one;
	}
	return NULL;
}

/* Moves the merged texts to the plan's entries, to be shown. */
static void take_merges(struct resolution *m, struct undo_plan *p)
{
	for (size_t i = 0; i < p->n_entries; i++) {
		struct undo_entry *e = &p->entries[i];
		struct merged *one = e->conflict && !e->merge ? merge_of(m, e) : NULL;
		struct undo_merge *texts;

		if (!one)
			continue;
		texts = xcalloc(1, sizeof(*texts));
		texts->now_len = one->external.len;
		texts->then_len = one->text.len;
		texts->now = buf_take(&one->external);
		texts->then = buf_take(&one->text);
		e->merge = texts;
	}
}

/* Makes the plan of all stores of the pick. remedies: in the same order; with show_merges the
 * merged texts move to the plan. */
static int plan_all(const struct selected_steps *pick, struct journal *j, struct undo_plan *plan,
		    bool show_merges, struct resolution *remedies, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < pick->n; i++) {
		const struct share *s = &pick->list[i];
		struct undo_plan *part = NULL;

		r = plan_store(s->j, &s->dirs, plan, &part, &remedies[i], err);
		if (r < 0)
			break;
		plan->seal += seal_of(s->j, &remedies[i]);
		if (show_merges)
			take_merges(&remedies[i], part);
		add_plan(plan, part, s->j, s->j == j);
	}
	plan->seal |= 1;
	return r;
}

static void resolutions_done(struct resolution *list)
{
	for (size_t i = 0; i < PARTS_MAX; i++)
		resolution_done(&list[i]);
}

int journal_plan(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 struct undo_plan **ret, struct err *err)
{
	struct undo_plan *plan = xcalloc(1, sizeof(*plan));
	struct resolution remedies[PARTS_MAX] = {0};
	struct selected_steps pick = {0};
	int r = select_steps(j, kind, n, flags, &pick, err);

	*plan = (struct undo_plan){.kind = kind, .n = n, .flags = flags};
	if (r == 0)
		r = plan_all(&pick, j, plan, true, remedies, err);
	resolutions_done(remedies);
	select_steps_done(&pick);
	if (r == 0)
		*ret = plan;
	else
		undo_plan_free(plan);
	return r;
}

static int64_t group_oldest(const struct names *g)
{
	int64_t oldest = INT64_MAX;

	for (size_t i = 0; i < g->n; i++)
		oldest = MIN(oldest, llabs(atoll(strrchr(g->list[i], '/') + 1)));
	return oldest;
}

bool undo_plan_stops(const struct undo_plan *p)
{
	for (size_t i = 0; i < p->n_barriers; i++)
		if (!(p->flags & (p->barriers[i].own ? UNDO_FORCE | UNDO_CROSS : UNDO_SETTLES)))
			return true;
	return p->n_stops;
}

static int refuse_barrier(const struct undo_plan *plan, struct err *err)
{
	const struct barrier *b = &plan->barriers[0];
	size_t count = 0;

	if (b->own)
		return err_say(err, -ESTALE,
			       "step %" PRId64 " is your own: undo fewer steps, or use --force to "
			       "take it back, too (redo has it)",
			       b->after);
	for (size_t i = 0; i < plan->n_barriers; i++)
		count += plan->barriers[i].count;
	return err_say(err, -ESTALE,
		       "'%s'%s changed from outside after step %" PRId64
		       ": look at it, then use --keep-mine to leave such edits as they are, "
		       "--merge, or --force to overwrite them (redo has them)",
		       b->n_paths ? b->paths[0] : "", count > 1 ? " and others were" : " was",
		       b->after);
}

/* Adds how to get a version of the path that one of the steps overwrote. */
static void name_overwritten(struct journal *j, const struct undo_plan *plan,
			     const struct undo_entry *e, struct buf *to)
{
	uint64_t number = 0;

	for (size_t i = 0; i < plan->n_ids && !number && !e->base; i++)
		number = journal_saved_of(j, plan->ids[i], e->path);
	if (number)
		buf_fmt(to,
			"; a version of yours that the step overwrote: cordon redo --saved "
			"%" PRIu64,
			number);
}

/* Names the first conflict that the flags do not settle. Returns -ESTALE. */
static int refuse(struct journal *j, const struct undo_plan *plan, struct err *err)
{
	const char *reverse = plan->kind == UNDO_REDO ? "undo" : "redo";
	AUTO_BUF struct buf saved = BUF_INIT;

	for (size_t i = 0; i < plan->n_entries; i++) {
		const struct undo_entry *e = &plan->entries[i];
		const char *base = e->base ? e->base : "", *slash = e->base ? "/" : "";

		if (!e->conflict || e->fate != FATE_STOPS)
			continue;
		if (e->lost)
			return err_say(
				err, -ESTALE,
				"the content of '%s%s%s'%s before the step is not kept, because "
				"the step was beyond the limits of undo by then: --dry-run shows "
				"what cannot come back, --force brings back the rest",
				base, slash, e->path, plan->n_stops > 1 ? " (and elsewhere)" : "");
		if (e->beside)
			return err_say(
				err, -ESTALE,
				"'%s%s%s'%s was also changed by a step that ran at the same time "
				"and stays: undo that step as well if `cordon log` still has it, "
				"or use --keep-mine to leave the file out, --merge, or "
				"--force (%s brings back what is replaced)",
				base, slash, e->path, plan->n_stops > 1 ? " (and others)" : "",
				reverse);
		name_overwritten(j, plan, e, &saved);
		return err_say(
			err, -ESTALE,
			"'%s%s%s' has changed since%s%s%s%s: look at it, then use --keep-mine to "
			"leave it out, --merge, or --force (%s brings back what is replaced)%s",
			base, slash, e->path, e->linked ? " by another name of the file" : "",
			plan->n_stops > 1 ? ", and others" : "",
			e->why ? ", and cannot be merged: " : "", e->why ? e->why : "", reverse,
			saved.data);
	}
	return refuse_barrier(plan, err);
}

/* Hands the resolution to the transaction, and writes the merged files to slots. */
static int take_resolution(struct txn *t, struct resolution *m)
{
	struct capture *to = txn_to(t, &t->list[0]);
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->n_merges; i++) {
		struct merged *one = &m->merges[i];

		one->slot = undo_log_slot(&to->log);
		r = capture_fill_slot(to, one->slot,
				      (struct span){.data = one->text.data, .len = one->text.len});
	}
	t->remedy = *m;
	*m = (struct resolution){0};
	return r;
}

/* Returns -ENOSPC if the rollback may lack disk space or inodes: a rollback that cannot be finished
 * is not begun. */
static int check_room(struct txn *t, struct err *err)
{
	off_t need = space_for(t);
	uint64_t inodes = space_inodes_for(t);

	if (!reserve_has_inodes(t->j, inodes))
		return err_say(err, -ENOSPC,
			       "the file system has too few free inodes: nothing has been changed: "
			       "remove %" PRIu64 " files where '%s' lies, then try again",
			       inodes, t->j->store_path);
	if (reserve_need(t->j, need) == 0)
		return 0;
	return err_say(err, -ENOSPC,
		       "the disk is full: nothing has been changed: make %lld KiB of room where "
		       "'%s' lies, then try again",
		       (long long)need / 1024 + 1, t->j->store_path);
}

static int ready(struct journal *j, struct err *err)
{
	struct journal *k = j;
	bool stuck = false;
	int r = 0;

	do {
		if (k->open)
			return err_say(err, -EBUSY, "a step is still running: wait for it to end");
		stuck |= k->stuck;
		r = recover_unstick(k, err);
	} while (r == 0 && (k = k->sibling) != j);
	/* The user asked before the earlier rollback was finished: going on might undo too much. */
	if (r == 0 && stuck)
		return err_say(err, -EAGAIN,
			       "an interrupted rollback was finished first, and nothing else was "
			       "undone: look at `cordon log`, then run it again");
	return r;
}

/* Checks and begins one transaction for each store of the pick. */
static int begin(const struct selected_steps *pick, const struct undo_plan *plan,
		 struct resolution *remedies, struct txn *list, struct err *err)
{
	bool redo = plan->kind == UNDO_REDO;
	struct roll roll = siblings_roll(pick->list[0].j);
	int r = 0;

	for (size_t i = 0; i < pick->n; i++)
		list[i] = (struct txn){.j = pick->list[i].j, .redo = redo, .roll = roll};
	for (size_t i = 0; r == 0 && i < pick->n; i++)
		r = txn_open(&list[i], &pick->list[i].dirs);
	for (size_t i = 0; r == 0 && i < pick->n; i++)
		for (size_t k = 0; k < list[i].n; k++)
			txn_to(&list[i], &list[i].list[k])->strict = !(plan->flags & UNDO_FORCE);
	for (size_t i = 0; r == 0 && i < pick->n; i++)
		r = take_resolution(&list[i], &remedies[i]);
	if (r < 0)
		err_set(err, r, "open the steps");
	for (size_t i = 0; r == 0 && !(plan->flags & UNDO_FORCE) && i < pick->n; i++)
		r = txn_check_objects(&list[i], err);
	for (size_t i = 0; r == 0 && i < pick->n; i++)
		r = check_room(&list[i], err);
	if (r == 0 && (r = txns_begin(list, pick->n)) < 0)
		err_set(err, r, "write to the undo store '%s'", list[0].j->store_path);
	return r;
}

static int run(const struct selected_steps *pick, const struct undo_plan *plan,
	       struct resolution *remedies, const struct undo_progress *progress, struct err *err)
{
	struct txn list[PARTS_MAX];
	mode_t mask = umask(077);
	int r = begin(pick, plan, remedies, list, err);

	umask(0);
	for (size_t i = 0; i < pick->n; i++)
		pick->list[i].j->evict_below = group_oldest(&pick->list[i].dirs);
	if (r == 0)
		r = txns_run(list, pick->n, progress, err);
	for (size_t i = 0; i < pick->n; i++)
		txn_done(&list[i]);
	if (r == 0 && plan->kind == UNDO_REDO && redo_drop_over(list->j) < 0)
		log_warn("journal", "undone steps stay that can no longer be redone");
	for (size_t i = 0; i < pick->n; i++) {
		struct journal *j = pick->list[i].j;

		j->evict_below = 0;
		if (r == 0 && prune_to_fit(j) < 0) /* the redo logs count, too */
			log_warn("journal", "the oldest steps cannot be removed from '%s'",
				 j->store_path);
	}
	umask(mask);
	return r;
}

int journal_undo(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 const struct undo_progress *progress, struct err *err)
{
	struct undo_plan *plan = xcalloc(1, sizeof(*plan));
	struct resolution remedies[PARTS_MAX] = {0};
	bool tell = progress && progress->planned;
	struct selected_steps pick = {0};
	int r = ready(j, err);

	*plan = (struct undo_plan){.kind = kind, .n = n, .flags = flags, .brief = !tell};
	if (r == 0 && kind == UNDO_REDO && (r = redo_drop_over(j)) < 0)
		err_set(err, r, "find what can be redone");
	if (r == 0)
		r = select_steps(j, kind, n, flags, &pick, err);
	if (r == 0)
		r = plan_all(&pick, j, plan, false, remedies, err);
	if (r == 0 && tell)
		progress->planned(progress->data, plan);
	if (r == 0 && undo_plan_stops(plan))
		r = refuse(j, plan, err);
	if (r == 0 && progress && progress->seal && progress->seal != plan->seal)
		r = err_say(err, -ESTALE,
			    "what would be merged is not what was shown: a file has changed "
			    "meanwhile: look again");
	if (r == 0)
		r = run(&pick, plan, remedies, progress, err);
	undo_plan_free(plan);
	resolutions_done(remedies);
	select_steps_done(&pick);
	return r;
}

static int log_reaches(struct journal *j, const char *dir, bool redo, bool *ret)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	struct rec rec;
	size_t at = 0;
	int r = fd < 0 ? fd : log_look(j, &log, fd, redo ? "redo" : "undo");

	while (r == 0 && !*ret && undo_log_next(&log, &at, &rec))
		*ret = !(root_is_own(j, rec.root) && root_is_own(j, rec.root2)) &&
		       !rec_is_idle(&rec);
	return r;
}

int journal_reaches(struct journal *j, enum undo_kind kind, size_t n, unsigned flags, bool *ret,
		    struct err *err)
{
	struct selected_steps pick = {0};
	int r;

	*ret = false;
	if (kind == UNDO_BACK && !(flags & UNDO_ALL_PLACES))
		return 0;
	r = select_steps(j, kind, n, flags, &pick, err);
	for (size_t i = 0; r == 0 && i < pick.n; i++)
		for (size_t k = 0; r == 0 && k < pick.list[i].dirs.n; k++) {
			const char *dir = pick.list[i].dirs.list[k];

			r = log_reaches(pick.list[i].j, dir, kind == UNDO_REDO, ret);
			if (r < 0)
				history_step_unread(err, r, strchr(dir, '/') + 1);
		}
	select_steps_done(&pick);
	return r;
}
