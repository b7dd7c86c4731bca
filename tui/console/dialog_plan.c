/* dialog_plan - what an undo or redo would do, before it does it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/ui.h"

/*
 * The keeper makes the plan for "the newest n steps". New steps may end while the human reads, so n
 * is worked out from the chosen step again at each change: when it differs, a new plan is asked for
 * and has to be read again.
 */
struct dialog_plan {
	struct view v;
	enum undo_kind kind;
	int64_t step; /* undo to before this one, or restore of it: */
	char *path;   /* with UNDO_PATHS */
	size_t n;
	unsigned flags; /* how conflicts are settled */
	uint64_t request;
	int64_t shown_us; /* when the plan arrived, 0: not yet */
	bool armed, replaced;
	struct list list;
};

static const enum action hints[] = {ACTION_CONFIRM, ACTION_KEEP_MINE, ACTION_MERGE, ACTION_FORCE,
				    ACTION_BACK,    ACTION_DOWN,      ACTION_UP,    ACTION_NONE};

static const struct undo_plan *plan_of(const struct dialog_plan *d)
{
	const struct model *m = d->v.ui->spec.model;

	return m->plan && m->plan_request == d->request ? m->plan : NULL;
}

/* Something is in the way that only another key goes over. */
static bool stops(const struct dialog_plan *d, const struct undo_plan *p)
{
	return d->kind == UNDO_PATHS ? p->n_conflicts > 0 : undo_plan_stops(p);
}

/* How many steps are not undone from the chosen one on; 0: it is undone meanwhile. */
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
	d->armed = false;
	if (d->kind == UNDO_PATHS) {
		d->request = ui->spec.verbs->restore(ui->spec.data, true, d->step, d->path, 0);
		return;
	}
	d->n = d->kind == UNDO_REDO ? 1 : steps_back(d);
	/* 0: the step still runs, which the keeper will say in words. */
	d->request = ui->spec.verbs->plan(ui->spec.data, d->kind, MAX(d->n, (size_t)1), d->flags);
}

static void replace_by_busy(struct dialog_plan *d)
{
	struct ui *ui = d->v.ui;
	struct view *busy = dialog_busy_new(ui, d->kind, d->step, ui->spec.model->plan_refused);

	ui_close(ui, &d->v);
	ui_push(ui, busy);
}

static void changed(struct view *v)
{
	struct dialog_plan *d = (struct dialog_plan *)v;

	if (d->kind == UNDO_BACK && steps_back(d) != d->n) {
		if (steps_back(d) == 0) {
			ui_close(v->ui, v);
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
	if (plan_of(d) && d->shown_us == 0)
		d->shown_us = v->ui->now_us;
}

static struct rect size(struct view *v, struct rect body)
{
	const struct undo_plan *p = plan_of((struct dialog_plan *)v);
	int want = 8 + (int)MIN(p ? p->n_entries : 0, (size_t)1000);
	int h = MIN(body.h, MAX(want, 10)), w = MIN(body.w, 100);

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

/* Words for the letters: what the undo will do to the path. */
static const char *verb_of(char what)
{
	switch (what) {
	case 'A':
		return "comes back";
	case 'D':
		return "goes away";
	case 'R':
		return "renamed to";
	default:
		return "changes back";
	}
}

static const char *note_of(const struct undo_entry *e)
{
	if (e->lost)
		return "not kept: stays";
	switch (e->fate) {
	case FATE_KEPT:
		return e->why ? "no merge: stays" : "stays as it is";
	case FATE_MERGED:
		return "merged";
	case FATE_MARKED:
		return "merged, with conflict markers";
	case FATE_STOPS:
	case FATE_FORCED:
		break;
	}
	return "changed since";
}

static void draw_entry(struct dialog_plan *d, struct surface *s, struct rect line,
		       const struct undo_entry *e)
{
	int role = e->conflict	    ? ROLE_MODAL_DANGER
		   : e->what == 'A' ? ROLE_EVENT_ALLOW
		   : e->what == 'D' ? ROLE_EVENT_DENY
				    : ROLE_MODAL;
	AUTO_FREE char *path = e->base ? path_join(e->base, e->path) : xstrdup(e->path);
	int x = line.x, end = line.x + line.w;
	char letter[2] = {e->what, '\0'};

	x += ui_modal_text(s, x, line.y, 1, role, e->conflict ? "!" : " ") + 1;
	x += ui_modal_text(s, x, line.y, 1, role, letter) + 2;
	if (line.w >= 60 && e->what != 'R') {
		surface_text(s, x, line.y, 12, ROLE_MODAL_LABEL,
			     d->kind == UNDO_REDO && e->what == 'M' ? "changes" : verb_of(e->what));
		x += 14;
	}
	if (e->what == 'R' && e->other) {
		x += surface_hostile(s, x, line.y, (end - x) / 2 - 2, ROLE_MODAL, path);
		x += surface_text(s, x, line.y, 4, ROLE_MODAL_LABEL, " -> ");
		surface_hostile(s, x, line.y, end - x, ROLE_MODAL, e->other);
	} else {
		x += surface_hostile(s, x, line.y, end - x,
				     e->conflict ? ROLE_MODAL_DANGER : ROLE_MODAL, path);
		if (e->conflict)
			surface_text(s, x + 2, line.y, MAX(0, end - x - 2), ROLE_MODAL_LABEL,
				     note_of(e));
		else if (e->fate == FATE_KEPT)
			surface_text(s, x + 2, line.y, MAX(0, end - x - 2), ROLE_MODAL_LABEL,
				     "stays as well");
	}
}

static const char *verb_name(const struct dialog_plan *d)
{
	static const char *const names[] = {
		[UNDO_BACK] = "undo", [UNDO_REDO] = "redo", [UNDO_PATHS] = "restore"};

	return names[d->kind];
}

/* What was edited from outside since, though this touches none of it. */
static void draw_barrier(struct surface *s, struct rect in, const struct barrier *b)
{
	AUTO_BUF struct buf words = BUF_INIT;

	buf_fmt(&words, "! edited from outside after step %lld: ", (long long)b->after);
	if (b->n_paths)
		buf_str(&words, b->paths[0]);
	if (b->count > 1)
		buf_fmt(&words, " and %zu more", b->count - 1);
	surface_hostile_end(s, in.x, in.y + 1, in.w, ROLE_MODAL_DANGER, words.data);
}

static void draw_warning(struct surface *s, struct rect in, const struct undo_plan *p)
{
	if (p->n_conflicts > 0)
		surface_fmt(s, in.x, in.y + 1, in.w, ROLE_MODAL_DANGER,
			    "! %zu changed since by somebody else: they are listed first",
			    p->n_conflicts);
	else if (p->n_barriers > 0)
		draw_barrier(s, in, &p->barriers[0]);
}

static void draw_heading(struct dialog_plan *d, struct surface *s, struct rect in,
			 const struct undo_plan *p)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (d->kind == UNDO_PATHS) {
		surface_fmt(s, in.x, in.y, in.w, ROLE_MODAL,
			    "Restores %zu path%s as before step %lld; a step that can be undone",
			    p->n_paths, p->n_paths == 1 ? "" : "s", (long long)d->step);
		draw_warning(s, in, p);
		return;
	}
	buf_fmt(&b, "%s %zu step%s", d->kind == UNDO_REDO ? "Brings back" : "Rolls back", p->n_ids,
		p->n_ids == 1 ? "" : "s");
	for (size_t i = 0; i < MIN(p->n_ids, (size_t)6); i++)
		buf_fmt(&b, "%s%lld", i ? ", " : ": ", (long long)p->ids[i]);
	if (p->n_ids > 6)
		buf_str(&b, ", ...");
	buf_fmt(&b, "; %zu path%s", p->n_paths, p->n_paths == 1 ? "" : "s");
	surface_text(s, in.x, in.y, in.w, ROLE_MODAL, b.data);
	draw_warning(s, in, p);
}

/* Conflicts stand on top, the rest in the plan's order. */
static const struct undo_entry *entry_at(const struct undo_plan *p, size_t row)
{
	bool conflicts = row < p->n_conflicts;

	if (!conflicts)
		row -= p->n_conflicts;
	for (size_t i = 0; i < p->n_entries; i++) {
		if (p->entries[i].conflict == conflicts && row-- == 0)
			return &p->entries[i];
	}
	return NULL;
}

static void draw_keys(struct dialog_plan *d, struct surface *s, struct rect in,
		      const struct undo_plan *p)
{
	int y = in.y + in.h - 1, x = in.x;
	int key = d->armed ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL;
	char keys[32];
	enum action a = stops(d, p) ? ACTION_FORCE : ACTION_CONFIRM;

	ui_keys(d->v.ui, PLACE_PLAN, a, keys, sizeof(keys));
	x += surface_text(s, x, y, in.w, key, keys) + 1;
	x += surface_text(s, x, y, in.x + in.w - x, ROLE_MODAL,
			  a == ACTION_FORCE ? "do it anyway (theirs is kept for redo)"
					    : verb_name(d)) +
	     3;
	ui_keys(d->v.ui, PLACE_PLAN, ACTION_BACK, keys, sizeof(keys));
	x += surface_text(s, x, y, in.x + in.w - x, ROLE_MODAL_KEY, keys) + 1;
	surface_text(s, x, y, in.x + in.w - x, ROLE_MODAL, "leave everything");
}

/* It is on its way, or the keeper has said why there is none. */
static void draw_no_plan(struct dialog_plan *d, struct surface *s, struct rect in)
{
	const char *refused = d->v.ui->spec.model->plan_refused;

	if (refused)
		surface_hostile_end(s, in.x, in.y, in.w, ROLE_MODAL_DANGER, refused);
	else
		surface_text(s, in.x, in.y, in.w, ROLE_MODAL_LABEL,
			     "Working out what would change...");
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_plan *d = (struct dialog_plan *)v;
	const struct undo_plan *p = plan_of(d);
	struct rect in = ui_modal(s, r, verb_name(d), p && p->n_conflicts > 0);
	struct rect rows;

	(void)focused;
	if (!p) {
		draw_no_plan(d, s, in);
		return;
	}
	if (d->shown_us == 0)
		d->shown_us = v->ui->now_us;
	if (!d->armed) /* on the screen is enough, unless it has replaced what was being read */
		d->armed = !d->replaced || ui_armed(v->ui, d->shown_us);
	draw_heading(d, s, in, p);
	rows = (struct rect){in.x, in.y + 2, in.w, MAX(0, in.h - 4)};
	if (rows.h == 0)
		rows = (struct rect){in.x, in.y + 1, in.w, MAX(0, in.h - 2)};
	d->list.page = (size_t)MAX(rows.h, 1);
	d->list.top =
		MIN(d->list.top, p->n_entries > d->list.page ? p->n_entries - d->list.page : 0);
	for (int y = 0; y < rows.h && d->list.top + (size_t)y < p->n_entries; y++) {
		const struct undo_entry *e = entry_at(p, d->list.top + (size_t)y);

		if (e)
			draw_entry(d, s, (struct rect){rows.x, rows.y + y, rows.w, 1}, e);
	}
	if (p->n_entries == 0)
		surface_text(s, rows.x, rows.y, rows.w, ROLE_MODAL_LABEL,
			     d->kind == UNDO_REDO ? "There is nothing to redo."
						  : "Nothing would change.");
	draw_keys(d, s, in, p);
}

static void go(struct dialog_plan *d, unsigned flags)
{
	struct ui *ui = d->v.ui;
	const struct undo_plan *p = plan_of(d);
	uint64_t request;

	if (!p || p->n_ids == 0) {
		ui_say(ui, p ? "There is nothing to do." : "The plan is not here yet.");
		return;
	}
	if (!d->armed) {
		ui_say(ui, "This plan is new: read it first.");
		return;
	}
	if (stops(d, p) && !(flags & UNDO_FORCE)) {
		char keys[32];

		ui_say(ui, "%zu paths changed since: %s does it anyway and keeps theirs for redo.",
		       p->n_conflicts, ui_keys(ui, PLACE_PLAN, ACTION_FORCE, keys, sizeof(keys)));
		return;
	}
	flags = stops(d, p) ? flags : d->flags;
	request = d->kind == UNDO_PATHS
			  ? ui->spec.verbs->restore(ui->spec.data, false, d->step, d->path, flags)
			  : ui->spec.verbs->undo(ui->spec.data, d->kind, d->n, flags);
	ui_pop(ui);
	ui_push(ui, dialog_progress_new(ui, request));
}

/* The plan scrolls as a page: it has no cursor. */
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

/* Another plan, that says what becomes of each conflict: read it, then confirm. */
static void settle(struct dialog_plan *d, unsigned flags)
{
	const struct undo_plan *p = plan_of(d);

	if (d->kind == UNDO_PATHS || !p || (!p->n_conflicts && !p->n_barriers)) {
		ui_say(d->v.ui, "Nobody else changed anything here that could be kept.");
		return;
	}
	d->flags = flags;
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
	if (a == ACTION_BACK) {
		ui_pop(v->ui);
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

static const struct view_ops ops = {
	.place = PLACE_PLAN,
	.size = size,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

struct view *dialog_plan_new(struct ui *ui, enum undo_kind kind, int64_t step)
{
	struct dialog_plan *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	d->kind = kind;
	d->step = step;
	ask_plan(d);
	return &d->v;
}

struct view *dialog_restore_new(struct ui *ui, int64_t step, const char *path)
{
	struct dialog_plan *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	d->kind = UNDO_PATHS;
	d->step = step;
	d->path = xstrdup(path);
	ask_plan(d);
	return &d->v;
}
