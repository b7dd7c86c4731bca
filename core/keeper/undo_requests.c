/* undo_requests - serves requests of cordon for an undo, redo or restore: plans, progress,
 * results. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/undo_requests.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/diff/diff.h"
#include "core/keeper/agent_undo.h"
#include "core/keeper/channel.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/folders/unconfined.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/steps.h"
#include "core/keeper/watch/watch.h"

#define PROGRESS_US	   50000
#define BARRIERS_SENT	   8 /* per plan; each with a few of its paths */
#define BARRIER_PATHS_SENT 10
#define PATHS_MAX	   (WIRE_MAX / 4) /* an empty string has four bytes */

static void send_done(struct keeper *k, uint64_t request, int result, const char *words)
{
	size_t mark = wire_begin(&k->out, WIRE_DONE);

	wire_u64(&k->out, request);
	wire_u32(&k->out, (uint32_t)result);
	wire_cstr(&k->out, words);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The order of entries in a plan. Users look for the first ones, which are also sent if a plan does
 * not fit a frame. */
enum rank {
	RANK_CONFLICT,
	RANK_FILE,
	RANK_LAST, /* git's own files, and files in places that stay as they are */
	RANKS,
};

static enum rank rank_of(const struct undo_plan *p, const struct undo_entry *e)
{
	if (e->conflict || e->why) /* why: the entry is a question */
		return RANK_CONFLICT;
	return diff_is_gits_own(e->path) || undo_entry_elsewhere(p, e) ? RANK_LAST : RANK_FILE;
}

static enum wire_conflict note_of(const struct undo_entry *e)
{
	if (!e->conflict)
		return e->later ? CONFLICT_LATER : CONFLICT_NONE;
	return e->lost	   ? CONFLICT_LOST
	       : e->beside ? CONFLICT_BESIDE
	       : e->linked ? CONFLICT_LINKED
			   : CONFLICT_SINCE;
}

static void put_entries(struct keeper *k, const struct undo_plan *p, size_t mark, enum rank rank,
			uint32_t *count)
{
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct undo_entry *e = &p->entries[i];
		size_t need = 23 + strlen(e->path) + (e->other ? strlen(e->other) : 0) +
			      (e->why ? strlen(e->why) : 0) + (e->base ? strlen(e->base) : 0);

		if (rank_of(p, e) != rank || k->out.len - mark + need > WIRE_MAX)
			continue;
		wire_u8(&k->out, (uint8_t)e->what);
		wire_u8(&k->out, (uint8_t)note_of(e));
		wire_u8(&k->out, (uint8_t)e->fate);
		wire_u32(&k->out, (uint32_t)e->root);
		wire_cstr(&k->out, e->path);
		wire_cstr(&k->out, e->other);
		wire_cstr(&k->out, e->why);
		wire_cstr(&k->out, e->base);
		(*count)++;
	}
}

static void put_barriers(struct keeper *k, const struct undo_plan *p)
{
	uint32_t n = (uint32_t)MIN(p->n_barriers, (size_t)BARRIERS_SENT);

	wire_u32(&k->out, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct barrier *b = &p->barriers[i];
		uint32_t paths = (uint32_t)MIN(b->n_paths, (size_t)BARRIER_PATHS_SENT);

		wire_i64(&k->out, b->first_us);
		wire_i64(&k->out, b->last_us);
		wire_u64(&k->out, b->count);
		wire_i64(&k->out, b->after);
		wire_u8(&k->out, b->own);
		wire_u32(&k->out, paths);
		for (uint32_t at = 0; at < paths; at++)
			wire_cstr(&k->out, b->paths[at]);
	}
}

static void send_plan(struct keeper *k, uint64_t request, const struct undo_plan *p)
{
	size_t mark = wire_begin(&k->out, WIRE_PLAN), count_at, end;
	uint32_t n_ids = (uint32_t)MIN(p->n_ids, (size_t)(WIRE_MAX / 32)), count = 0;
	struct buf number = BUF_INIT;

	wire_u64(&k->out, request);
	wire_u8(&k->out, (uint8_t)p->kind);
	wire_u64(&k->out, p->n);
	wire_u32(&k->out, p->flags);
	wire_u64(&k->out, p->n_conflicts);
	wire_u64(&k->out, p->n_stops);
	wire_u64(&k->out, p->n_paths);
	wire_u64(&k->out, p->seal);
	wire_u32(&k->out, n_ids);
	for (uint32_t i = 0; i < n_ids; i++)
		wire_i64(&k->out, p->ids[i]);
	put_barriers(k, p);
	count_at = k->out.len;
	wire_u32(&k->out, 0);
	for (enum rank rank = 0; rank < RANKS; rank++)
		put_entries(k, p, mark, rank, &count);
	end = k->out.len;
	wire_u32(&number, count);
	memcpy(k->out.data + count_at, number.data, number.len);
	buf_done(&number);
	assert(end == k->out.len);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

/* Returns the flags for the journal. With warn_only, external edits are reported but stop no
 * undo. */
static unsigned undo_flags(const struct keeper *k, unsigned flags)
{
	return (flags & ~WIRE_UNDO_OF_AGENT) | (k->spec->warn_only ? UNDO_CROSS : 0u) |
	       (k->spec->undo_home ? UNDO_ALL_PLACES : 0u);
}

void undo_serve_plan(struct keeper *k, struct wire_in *in)
{
	uint64_t request = wire_get_u64(in);
	enum undo_kind kind = wire_get_u8(in) == UNDO_REDO ? UNDO_REDO : UNDO_BACK;
	size_t n = (size_t)wire_get_u64(in);
	unsigned flags = wire_get_u32(in);
	struct undo_plan *plan = NULL;
	struct err err = {0};
	size_t asks;
	int r = in->bad ? -EBADMSG : steps_settle(k, &err);

	if (r == 0)
		r = journal_plan(k->journal, kind, n, undo_flags(k, flags), &plan, &err);
	if (r == 0 && flags & WIRE_UNDO_OF_AGENT)
		r = agent_undo_judge(k, plan, &asks, &err);
	if (r < 0) {
		send_done(k, request, r, err.text);
	} else {
		assert(plan);
		send_plan(k, request, plan);
	}
	undo_plan_free(plan);
}

/* ---- undo ------------------------------------------------------------------------------------ */

struct undo_run {
	struct keeper *keeper;
	uint64_t request;
	enum undo_kind kind;
	size_t n;
	unsigned flags;
	int64_t newest; /* the first step that was shown; 0: any */
	uint64_t seal;	/* of the plan that was shown; 0: any */
	int64_t step;	/* of a restore; else the newest one; 0: unknown */
	const char *const *paths;
	int64_t told_at;
	bool cancelled;
	struct err err;
};

/* Looks for a cancellation in received frames without removing them: they are served later, in
 * order. */
static bool has_cancel(const struct keeper *k, uint64_t request)
{
	size_t at = 0, used;
	struct wire_in in;

	for (;;) {
		const struct buf rest = {.data = k->in.data + at, .len = k->in.len - at};

		if (wire_next(&rest, &in, &used) <= 0)
			return false;
		if (in.type == WIRE_CANCEL && wire_get_u64(&in) == request && !in.bad)
			return true;
		at += used;
	}
}

static void undo_planned(void *data, const struct undo_plan *plan)
{
	struct undo_run *run = data;

	run->step = plan->n_ids ? plan->ids[0] : 0;
	send_plan(run->keeper, run->request, plan);
}

static bool undo_tick(void *data, size_t done, size_t total)
{
	struct undo_run *run = data;
	struct keeper *k = run->keeper;
	int64_t now = clock_mono_us();
	size_t mark;

	if (now - run->told_at < PROGRESS_US)
		return !run->cancelled;
	run->told_at = now;
	mark = wire_begin(&k->out, WIRE_PROGRESS);
	wire_u64(&k->out, run->request);
	wire_u64(&k->out, done);
	wire_u64(&k->out, total);
	wire_end(&k->out, mark);
	keeper_flush(k);
	/* The end of cordon does not cancel a confirmed undo. */
	if (keeper_recv(k) == 0)
		run->cancelled = has_cancel(k, run->request);
	return !run->cancelled;
}

/* Returns -ESTALE if a step was committed after the plan was shown: the user confirmed the plan
 * without it. */
static int check_newest(struct keeper *k, enum undo_kind kind, int64_t newest, struct err *err)
{
	int64_t id;
	int r;

	if (newest == 0 || kind != UNDO_BACK) /* after a new step there is nothing to redo */
		return 0;
	r = journal_newest(k->journal, &id);
	if (r < 0)
		return err_set(err, r, "list the steps");
	return id == newest ? 0
			    : err_say(err, -ESTALE, "the history has grown meanwhile: look again");
}

/* Fails if opening the history has repaired it: `cordon undo` was meant for the history before the
 * repair. In a session the user is told of a repair before an undo. */
static int check_mended(const struct keeper *k, enum undo_kind kind, struct err *err)
{
	if (k->spec->spawn || !journal_was_mended(k->journal))
		return 0;
	return err_say(
		err, -EAGAIN,
		"the history was repaired first, and nothing else was %s: look at `cordon log`, "
		"then run `cordon %s` again",
		kind == UNDO_REDO ? "redone" : "undone", kind == UNDO_REDO ? "redo" : "undo");
}

static int do_undo(void *arg)
{
	struct undo_run *run = arg;
	const struct undo_progress progress = {.planned = run->newest ? NULL : undo_planned,
					       .tick = undo_tick,
					       .data = run,
					       .seal = run->seal};
	int r = check_newest(run->keeper, run->kind, run->newest, &run->err);

	if (r == 0)
		r = check_mended(run->keeper, run->kind, &run->err);
	if (r == 0 && run->flags & WIRE_UNDO_OF_AGENT)
		r = agent_undo_check(run->keeper, run->kind, run->n,
				     undo_flags(run->keeper, run->flags), &run->err);
	if (r < 0)
		return r;
	return journal_undo(run->keeper->journal, run->kind, run->n,
			    undo_flags(run->keeper, run->flags), &progress, &run->err);
}

static int do_restore(void *arg)
{
	struct undo_run *run = arg;

	return journal_restore(run->keeper->journal, run->step, run->paths, run->flags, &run->err);
}

static int do_restore_hunk(void *arg)
{
	struct undo_run *run = arg;

	return journal_restore_hunk(run->keeper->journal, run->step, run->paths[0], run->flags,
				    &run->err);
}

/* Returns whether the undo changes a granted place, which the keeper's own confinement forbids. In
 * doubt returns false, and the undo finds out. */
static bool goes_outside(const struct undo_run *run)
{
	const struct keeper *k = run->keeper;
	struct err ignored = {0};
	bool reaches = false;

	if (!k->outside || run->paths)
		return false;
	return journal_reaches(k->journal, run->kind, run->n, undo_flags(k, run->flags), &reaches,
			       &ignored) == 0 &&
	       reaches;
}

/*
 * Performs the undo in the keeper's thread, or in the unconfined thread if it changes granted
 * places. In the wrong thread it would stop half-way.
 */
static int perform(struct undo_run *run, int (*fn)(void *arg))
{
	struct keeper *k = run->keeper;
	bool outside = goes_outside(run);
	int r;

	keeper_umask(k, 077);
	run->told_at = clock_mono_us();
	if (k->frozen)
		return err_say(&run->err, -EIO,
			       "the audit log cannot be written: nothing is changed");
	watch_own_begin(k);
	r = outside ? folder_run_outside(k, fn, run) : fn(run);
	if ((r == -EACCES || r == -EPERM || r == -EXDEV) && k->outside && !outside) {
		r = folder_run_outside(k, fn, run);
		/* The first try stopped half-way and was reverted. */
		if (r == -EAGAIN)
			r = folder_run_outside(k, fn, run);
	}
	watch_own_end(k);
	doors_rolled_back(k, run->step);
	return MIN(r, 0);
}

static void run_undo(struct undo_run *run, int (*fn)(void *arg), bool bad)
{
	struct keeper *k = run->keeper;
	int r = bad ? err_say(&run->err, -EBADMSG, "not a request") : steps_settle(k, &run->err);

	if (r == 0)
		r = perform(run, fn);
	keeper_news(k);
	send_done(k, run->request, r, r < 0 ? run->err.text : "");
}

void undo_serve_undo(struct keeper *k, struct wire_in *in)
{
	struct undo_run run = {.keeper = k, .request = wire_get_u64(in)};

	run.kind = wire_get_u8(in) == UNDO_REDO ? UNDO_REDO : UNDO_BACK;
	run.n = (size_t)wire_get_u64(in);
	run.flags = wire_get_u32(in);
	run.newest = run.step = wire_get_i64(in);
	run.seal = wire_get_u64(in);
	run_undo(&run, do_undo, in->bad);
}

static void plan_restore(struct undo_run *run)
{
	struct keeper *k = run->keeper;
	struct undo_plan *plan = NULL;
	int r = steps_settle(k, &run->err);

	if (r == 0)
		r = journal_restore_plan(k->journal, run->step, run->paths, run->flags, &plan,
					 &run->err);
	if (r == 0)
		send_plan(k, run->request, plan);
	else
		send_done(k, run->request, r, run->err.text);
	undo_plan_free(plan);
}

void undo_serve_restore(struct keeper *k, struct wire_in *in)
{
	CLEANUP(util_free_list) char **paths = NULL;
	struct undo_run run = {.keeper = k, .request = wire_get_u64(in)};
	uint32_t n;
	uint8_t what;

	what = wire_get_u8(in);
	run.step = wire_get_i64(in);
	run.flags = wire_get_u32(in);
	n = wire_get_u32(in);
	if (n > PATHS_MAX || what > WIRE_RESTORE_HUNK || (what == WIRE_RESTORE_HUNK && n != 1))
		in->bad = true;
	paths = xcalloc(in->bad ? 1 : (size_t)n + 1, sizeof(char *));
	for (uint32_t i = 0; i < n && !in->bad; i++)
		paths[i] = wire_get_cstr(in);
	run.paths = (const char *const *)paths;
	if (what == WIRE_RESTORE_PLAN && !in->bad)
		plan_restore(&run);
	else
		run_undo(&run, what == WIRE_RESTORE_HUNK ? do_restore_hunk : do_restore, in->bad);
}
