/* dialog_plan - the dialog that shows the plan of an undo or redo before it is carried out. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "tui/console/dialogs/dialog_plan.h"

/* The keeper makes the plan for "the newest n steps". New steps may end while the user reads, so n
 * is computed from the chosen step at each change: if it differs, a new plan is requested and must
 * be read again. */
static const enum action hints[] = {ACTION_CONFIRM, ACTION_BACK, ACTION_DOWN, ACTION_UP,
				    ACTION_NONE};
/* A plan with conflicts cannot be confirmed: a choice comes first, and leads to another plan. */
static const enum action stopped_hints[] = {ACTION_KEEP_MINE, ACTION_MERGE, ACTION_FORCE,
					    ACTION_BACK,      ACTION_DOWN,  ACTION_UP,
					    ACTION_NONE};
static const enum action settled_hints[] = {ACTION_CONFIRM, ACTION_KEEP_MINE, ACTION_MERGE,
					    ACTION_BACK,    ACTION_DOWN,      ACTION_UP,
					    ACTION_NONE};
static const enum action forced_hints[] = {ACTION_FORCE, ACTION_BACK, ACTION_DOWN, ACTION_UP,
					   ACTION_NONE};
static const enum action elsewhere_hints[] = {ACTION_ALL_PLACES, ACTION_BACK, ACTION_DOWN,
					      ACTION_UP, ACTION_NONE};
static const enum action refused_hints[] = {ACTION_BACK, ACTION_DOWN, ACTION_UP, ACTION_NONE};

static const struct view_ops ops, stopped_ops, settled_ops, forced_ops, elsewhere_ops, refused_ops;

const struct undo_plan *plan_of(const struct dialog_plan *d)
{
	const struct model *m = d->v.ui->spec.model;

	return m->plan && m->plan_request == d->request ? m->plan : NULL;
}

bool plan_stops(const struct dialog_plan *d, const struct undo_plan *p)
{
	return d->kind == UNDO_PATHS ? p->n_conflicts > 0 : undo_plan_stops(p);
}

bool plan_is_alone(const struct dialog_plan *d)
{
	return d->kind == UNDO_PATHS && !*d->path;
}

size_t plan_lost(const struct undo_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_entries; i++)
		n += p->entries[i].conflict && p->entries[i].lost;
	return n;
}

bool plan_is_in_vain(const struct dialog_plan *d, const struct undo_plan *p)
{
	return d->kind == UNDO_PATHS && plan_lost(p) && plan_lost(p) == p->n_paths;
}

bool plan_has_choice(const struct dialog_plan *d, const struct undo_plan *p)
{
	return d->kind != UNDO_PATHS && (p->n_conflicts > plan_lost(p) || p->n_barriers);
}

bool plan_has_places(const struct dialog_plan *d, const struct undo_plan *p)
{
	if (d->kind != UNDO_BACK)
		return false;
	for (size_t i = 0; i < p->n_entries; i++)
		if (undo_entry_elsewhere(p, &p->entries[i]))
			return true;
	return d->places;
}

bool plan_is_elsewhere(const struct undo_plan *p)
{
	for (size_t i = 0; i < p->n_entries; i++)
		if (!undo_entry_elsewhere(p, &p->entries[i]))
			return false;
	return p->n_entries > 0 && p->n_paths == p->n_entries && !p->n_barriers;
}

/* Returns the number of steps to undo, from the chosen one on; 0 if it is undone already. */
static size_t steps_back(const struct dialog_plan *d)
{
	const struct model *m = d->v.ui->spec.model;
	size_t n = 0;

	for (size_t i = m->n_steps; i > 0; i--) {
		const struct step_row *s = &m->steps[i - 1];

		if ((s->running && s->kind != STEP_AMBIENT) || s->undone)
			continue;
		n++;
		if (s->id == d->step)
			return n;
	}
	return 0;
}

static void ask_plan(struct dialog_plan *d)
{
	struct ui *ui = d->v.ui;

	d->shown_us = 0;
	d->undos = ui->spec.model->undos;
	d->armed = d->merges_seen = false;
	if (d->kind == UNDO_PATHS) {
		d->request = ui->spec.verbs->restore(ui->spec.data, true, d->step, d->path, 0);
		return;
	}
	d->n = d->kind == UNDO_REDO ? 1 : steps_back(d);
	/* 0: the step still runs; the keeper refuses with an explanation. */
	d->request = ui->spec.verbs->plan(ui->spec.data, d->kind, MAX(d->n, (size_t)1),
					  d->flags | d->places);
}

static void replace_by_busy(struct dialog_plan *d)
{
	struct ui *ui = d->v.ui;
	struct view *busy = dialog_busy_new(ui, d->kind, d->step, ui->spec.model->plan_refused);

	ui_close(ui, &d->v);
	ui_push(ui, busy);
}

/* Returns the operations with the keys that this plan allows. */
static const struct view_ops *ops_of(const struct dialog_plan *d, const struct undo_plan *p)
{
	if (plan_is_in_vain(d, p))
		return &refused_ops;
	if (plan_is_elsewhere(p))
		return &elsewhere_ops;
	if (!plan_stops(d, p))
		return d->flags ? &settled_ops : &ops;
	return plan_has_choice(d, p) ? &stopped_ops : &forced_ops;
}

static void changed(struct view *v)
{
	struct dialog_plan *d = (struct dialog_plan *)v;

	if (d->kind == UNDO_REDO && v->ui->spec.model->undos != d->undos) {
		ask_plan(d);
		d->replaced = true;
		ui_say(v->ui, "The history has changed: this is the new plan.");
	}
	if (d->kind == UNDO_BACK && steps_back(d) != d->n) {
		if (steps_back(d) == 0) {
			ui_vanish(v->ui, v);
			return;
		}
		ask_plan(d);
		d->replaced = true;
		ui_say(v->ui, "The history has grown: this is the new plan.");
	}
	if (v->ui->spec.model->plan_refused && !plan_of(d)) {
		if (v->ui->spec.model->plan_refused_by == -EBUSY && d->kind != UNDO_PATHS) {
			replace_by_busy(d);
			return;
		}
		ui_say(v->ui, "x %s", v->ui->spec.model->plan_refused);
		ui_close(v->ui, v);
		return;
	}
	if (!plan_of(d))
		return;
	v->ops = ops_of(d, plan_of(d));
	if (d->shown_us == 0)
		d->shown_us = v->ui->now_us;
}

static struct rect size(struct view *v, struct rect body)
{
	const struct undo_plan *p = plan_of((struct dialog_plan *)v);
	int want = 8 + (int)MIN(p ? plan_rows((const struct dialog_plan *)v, p) : 0, (size_t)1000);
	int h = MIN(body.h, MAX(want, 10)), w = MIN(body.w, 100);

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_plan *d = (struct dialog_plan *)v;
	const struct undo_plan *p = plan_of(d);

	(void)focused;
	if (p && d->shown_us == 0)
		d->shown_us = v->ui->now_us;
	if (p && !d->armed) /* at once, unless it replaced a plan that was being read */
		d->armed = !d->replaced || ui_armed(v->ui, d->shown_us);
	plan_draw(d, s, r);
}

/* Shows the result of merges, which must be read before it is written. */
static bool show_merges(struct dialog_plan *d, const struct undo_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_entries; i++)
		n += p->entries[i].fate == FATE_MERGED || p->entries[i].fate == FATE_MARKED;
	if (!n)
		return false;
	d->merges_seen = true;
	ui_push(d->v.ui, view_merge_new(d->v.ui, p));
	return true;
}

static void say_choice(struct dialog_plan *d, const struct undo_plan *p)
{
	AUTO_FREE char *what = NULL;
	struct ui *ui = d->v.ui;
	char keep[32], merge[32], then[32];

	ui_keys(ui, PLACE_PLAN, ACTION_KEEP_MINE, keep, sizeof(keep));
	ui_keys(ui, PLACE_PLAN, ACTION_MERGE, merge, sizeof(merge));
	ui_keys(ui, PLACE_PLAN, ACTION_CONFIRM, then, sizeof(then));
	if (p->n_conflicts)
		what = xasprintf("%zu path%s changed since", p->n_conflicts,
				 p->n_conflicts == 1 ? "" : "s");
	ui_say(ui, "%s: %s keeps the edits or %s merges them, then %s.",
	       what ? what : "These paths were edited after the steps", keep, merge, then);
}

static void say_stopped(struct dialog_plan *d, const struct undo_plan *p)
{
	struct ui *ui = d->v.ui;
	char force[32];

	ui_keys(ui, PLACE_PLAN, ACTION_FORCE, force, sizeof(force));
	if (plan_is_in_vain(d, p))
		ui_say(ui, "What was there before the step is not kept.");
	else if (plan_has_choice(d, p))
		say_choice(d, p);
	else if (plan_lost(p) && plan_lost(p) == p->n_conflicts)
		ui_say(ui, "Not all of it is kept: %s brings back the rest.", force);
	else
		ui_say(ui, "%zu path%s changed since: %s does it anyway and keeps theirs for redo.",
		       p->n_conflicts, p->n_conflicts == 1 ? "" : "s", force);
}

static void say_elsewhere(struct ui *ui, const struct undo_plan *p)
{
	AUTO_BUF struct buf words = BUF_INIT;

	plan_elsewhere_words(ui, p, &words);
	ui_say(ui, "%s", words.data);
}

/* Explains why there is nothing to confirm yet. */
static void say_no_plan(struct ui *ui)
{
	const char *refused = ui->spec.model->plan_refused;

	if (refused)
		ui_say(ui, "x %s", refused);
	else
		ui_say(ui, "The plan is still being worked out.");
}

static void go(struct dialog_plan *d, unsigned flags)
{
	struct ui *ui = d->v.ui;
	const struct undo_plan *p = plan_of(d);
	uint64_t request;

	if (!p) {
		say_no_plan(ui);
		return;
	}
	if (ui->spec.model->job.active) {
		ui_say(ui, "Another undo is under way: wait for its end.");
		return;
	}
	if (p->n_ids == 0) {
		ui_say(ui, "There is nothing to do.");
		return;
	}
	if (plan_is_elsewhere(p)) {
		say_elsewhere(ui, p);
		return;
	}
	if (!d->armed) {
		ui_say(ui, "This plan is new: read it first.");
		return;
	}
	if (plan_stops(d, p) && (!(flags & UNDO_FORCE) || plan_is_in_vain(d, p))) {
		say_stopped(d, p);
		return;
	}
	flags = (plan_stops(d, p) ? flags : d->flags) | d->places;
	if (!(flags & UNDO_FORCE) && !d->merges_seen && show_merges(d, p)) {
		ui_say(ui, "This is what will be written: confirm once more.");
		return;
	}
	request = d->kind == UNDO_PATHS
			  ? ui->spec.verbs->restore(ui->spec.data, false, d->step, d->path, flags)
			  : ui->spec.verbs->undo(ui->spec.data, d->kind, d->n, flags);
	ui_pop(ui);
	ui_push(ui, dialog_progress_new(ui, request));
}

/* Scrolls the plan as a page, without a cursor. */
static bool scroll(struct dialog_plan *d, enum action a)
{
	size_t page = d->list.page, top = d->list.top;

	switch ((int)a) {
	case ACTION_UP:
		d->list.top = top ? top - 1 : 0;
		return true;
	case ACTION_DOWN:
		d->list.top = top + 1;
		return true;
	case ACTION_PAGE_UP:
		d->list.top = top > page ? top - page : 0;
		return true;
	case ACTION_PAGE_DOWN:
		d->list.top = top + page;
		return true;
	case ACTION_TOP:
		d->list.top = 0;
		return true;
	case ACTION_BOTTOM:
		d->list.top = SIZE_MAX / 2;
		return true;
	default:
		return false;
	}
}

/* Requests a plan that shows what happens to each conflict: the user reads it, then confirms. */
static void settle(struct dialog_plan *d, unsigned flags)
{
	const struct undo_plan *p = plan_of(d);

	if (!p || !plan_has_choice(d, p)) {
		ui_say(d->v.ui, "Nobody else changed anything here that could be kept.");
		return;
	}
	d->flags = flags;
	ask_plan(d);
}

/* Requests another plan, with or without the places outside the folders. */
static void turn_places(struct dialog_plan *d)
{
	const struct undo_plan *p = plan_of(d);

	if (!p || !plan_has_places(d, p)) {
		ui_say(d->v.ui, "Nothing outside the folder was changed.");
		return;
	}
	d->places ^= UNDO_ALL_PLACES;
	ask_plan(d);
}

/* Requests the plan that undoes the chosen step and leaves the newer ones. */
static void turn_alone(struct dialog_plan *d)
{
	const struct undo_plan *p = plan_of(d);

	if (!p || d->kind != UNDO_BACK || plan_count_steps(d, p) < 2) {
		ui_say(d->v.ui, "There is no newer step that could stay.");
		return;
	}
	d->kind = UNDO_PATHS;
	d->path = xstrdup("");
	d->flags = d->places = 0;
	ask_plan(d);
}

static bool act(struct view *v, enum action a)
{
	struct dialog_plan *d = (struct dialog_plan *)v;

	if (a == ACTION_CONFIRM || a == ACTION_FORCE) {
		go(d, a == ACTION_FORCE ? UNDO_FORCE : 0);
		return true;
	}
	if (a == ACTION_KEEP_MINE || a == ACTION_MERGE) {
		settle(d, a == ACTION_MERGE ? UNDO_MERGE | UNDO_KEEP_MINE : UNDO_KEEP_MINE);
		return true;
	}
	if (a == ACTION_ALL_PLACES) {
		turn_places(d);
		return true;
	}
	if (a == ACTION_STEP_ALONE) {
		turn_alone(d);
		return true;
	}
	if (a == ACTION_DETAILS) {
		d->git = !d->git;
		return true;
	}
	if (a == ACTION_BACK) {
		ui_pop(v->ui);
		return true;
	}
	if (a == ACTION_OPEN) {
		if (!plan_of(d) || !show_merges(d, plan_of(d)))
			ui_say(v->ui, "Nothing here is merged.");
		return true;
	}
	return scroll(d, a) || a == ACTION_UNDO || a == ACTION_REDO;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	(void)r;
	if (m->action == MOUSE_WHEEL_UP)
		scroll((struct dialog_plan *)v, ACTION_UP);
	else if (m->action == MOUSE_WHEEL_DOWN)
		scroll((struct dialog_plan *)v, ACTION_DOWN);
}

static void view_free(struct view *v)
{
	free(((struct dialog_plan *)v)->path);
	free(v);
}

#define OPS(the_hints)                                                                             \
	{                                                                                          \
		.place = PLACE_PLAN, .size = size, .draw = draw, .act = act, .mouse = mouse,       \
		.does = DOES_MOVE | DOES_OPEN, .changed = changed, .free = view_free,              \
		.hints = (the_hints),                                                              \
	}

static const struct view_ops ops = OPS(hints);
static const struct view_ops stopped_ops = OPS(stopped_hints);
static const struct view_ops settled_ops = OPS(settled_hints);
static const struct view_ops forced_ops = OPS(forced_hints);
static const struct view_ops elsewhere_ops = OPS(elsewhere_hints);
static const struct view_ops refused_ops = OPS(refused_hints);

/* Requests the plan. An attached console and a replay refuse at once: only "back" is offered. */
static struct view *ask_first(struct dialog_plan *d)
{
	ask_plan(d);
	d->v.ops = d->v.ui->spec.model->plan_refused ? &refused_ops : &ops;
	return &d->v;
}

struct view *dialog_plan_new(struct ui *ui, enum undo_kind kind, int64_t step)
{
	struct dialog_plan *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ui = ui};
	d->kind = kind;
	d->step = step;
	return ask_first(d);
}

struct view *dialog_restore_new(struct ui *ui, int64_t step, const char *path)
{
	struct dialog_plan *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ui = ui};
	d->kind = UNDO_PATHS;
	d->step = step;
	d->path = xstrdup(path);
	return ask_first(d);
}
