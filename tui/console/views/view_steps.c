/* view_steps - the list of steps and of external edits between them: a tree whose rows can be
 * opened and undone. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/views/steplist.h"
#include "tui/console/views/view_step.h"

static const enum action hints[] = {
	ACTION_OPEN,	     ACTION_FOLD,   ACTION_UNDO,	ACTION_UNDO_TURN,      ACTION_REDO,
	ACTION_DIFF_SESSION, ACTION_SEARCH, ACTION_FOCUS_AUDIT, ACTION_FOCUS_TERMINAL, ACTION_NONE};

/* Moves the cursor over headings, in the direction of its last move. */
static void pass_headings(struct view_steps *p, size_t from)
{
	size_t at = p->list.cursor;
	bool up = at < from;

	while (steplist_is_heading(p, at) && (up ? at > 0 : at + 1 < p->n))
		at += up ? (size_t)-1 : 1;
	while (steplist_is_heading(p, at) && at + 1 < p->n)
		at++;
	p->list.cursor = at;
	if (at < p->n)
		p->at = steplist_key(p, &p->shown[at]);
}

static const struct line *line_at(const struct view_steps *p)
{
	return p->list.cursor < p->n ? &p->shown[p->list.cursor] : NULL;
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_steps *p = (struct view_steps *)v;

	steplist_collect(p);
	list_fit(&p->list, p->n, r.h);
	pass_headings(p, p->list.cursor);
	steplist_draw(v, s, r, focused);
}

static void note(struct view *v, char *out, size_t size)
{
	struct view_steps *p = (struct view_steps *)v;

	if (!list_note(&p->list, p->n, out, size) && p->places)
		snprintf(out, size, "also outside the folder");
}

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct view_steps *p = data;

	if (i < p->n)
		steplist_text(p, &p->shown[i], out);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_steps *p = (struct view_steps *)v;

	if (what == QUERY_FILTER) {
		snprintf(p->list.filter, sizeof(p->list.filter), "%s", text);
		p->list.follow = true;
		p->list.chosen = false;
		steplist_collect(p);
	} else if (!list_search(&p->list, text, p->n, text_of, p)) {
		ui_say(v->ui, "No step has '%s'.", text);
	}
	if (what != QUERY_FILTER)
		pass_headings(p, p->list.cursor);
}

/* ---- undo -------------------------------------------------------------------------------------
 */

/* Undoes the turn of the i-th step, from its first step in effect on. */
static void undo_turn_of(struct ui *ui, size_t i)
{
	const struct model *m = ui->spec.model;

	while (i > 0 && steplist_turn_at(m, i - 1) == steplist_turn_at(m, i) &&
	       !m->steps[i - 1].gone)
		i--;
	while (m->steps[i].undone && i + 1 < steplist_turn_end(m, i))
		i++;
	ui_undo(ui, UNDO_BACK, m->steps[i].id);
}

void ui_undo_turn(struct ui *ui)
{
	const struct model *m = ui->spec.model;
	size_t i = m->n_steps;

	while (i > 0 && (m->steps[i - 1].undone || m->steps[i - 1].gone ||
			 m->steps[i - 1].earlier || (m->steps[i - 1].elsewhere && !m->undo_home)))
		i--;
	if (!i)
		ui_say(ui, "This session has no step to undo.");
	else if (steplist_turn_at(m, i - 1) == SIZE_MAX)
		ui_undo(ui, UNDO_BACK, m->steps[i - 1].id);
	else
		undo_turn_of(ui, i - 1);
}

/* Returns a step of the row's turn; an external edit belongs to the step above it. */
static size_t step_of_turn(const struct view_steps *p)
{
	for (size_t i = p->list.cursor + 1; i-- > 0 && i < p->n;) {
		const struct line *l = &p->shown[i];

		if (l->kind == LINE_TURN)
			return l->sub;
		if (l->kind != LINE_EDIT)
			return steplist_is_heading(p, i) ? SIZE_MAX : l->at;
	}
	return SIZE_MAX;
}

static bool undo_turn(struct view_steps *p)
{
	size_t i = step_of_turn(p);

	if (i == SIZE_MAX)
		ui_say(p->v.ui, "There is no step to undo.");
	else if (steplist_turn_at(p->v.ui->spec.model, i) == SIZE_MAX)
		ui_say(p->v.ui, "Nothing says which turn this step belongs to.");
	else
		undo_turn_of(p->v.ui, i);
	return true;
}

/* Returns why no agent can begin from this step; NULL: it can. */
static const char *why_no_fork(const struct ui *ui, const struct step_row *st)
{
	if (ui->spec.read_only)
		return "You look on: nothing is started from here.";
	if (!ui->spec.folder)
		return "Not from here: cordon worktree fork, in the folder.";
	if (!st)
		return "There is no step to begin from.";
	if (st->running)
		return "This step still runs: its files are not known yet.";
	if (st->undone)
		return "This step is undone: redo it first, or begin from another one.";
	return st->gone ? "This step made room for newer ones." : NULL;
}

/* Forks in another program, which asks for name and command. */
static void fork_at(struct view_steps *p)
{
	const struct line *l = line_at(p);
	struct ui *ui = p->v.ui;
	const struct model *m = ui->spec.model;
	const struct step_row *st = l && l->kind == LINE_TURN
					    ? &m->steps[steplist_turn_end(m, l->sub) - 1]
					    : steplist_step(p, p->list.cursor);
	const char *why = why_no_fork(ui, st);
	char step[24];

	if (why) {
		ui_say(ui, "%s", why);
		return;
	}
	snprintf(step, sizeof(step), "%lld", (long long)st->id);
	ui_cordon(ui,
		  (const char *const[]){"board", "--fork", step, "--in", ui->spec.folder,
					"--command", m->line ? m->line : ""},
		  7);
}

static bool undo(struct view_steps *p)
{
	const struct step_row *st = steplist_step(p, p->list.cursor);
	const struct line *l = line_at(p);
	struct ui *ui = p->v.ui;

	/* Without a selected row, undoes the newest step of the project; notes and edits do not
	 * count. */
	if (p->list.follow && !p->list.chosen && ui_undo_newest(ui))
		return true;
	if (l && l->kind == LINE_TURN)
		return undo_turn(p);
	if (l && l->kind == LINE_NOTES)
		ui_say(ui, "Files outside the folder stay. Open the row to undo a step.");
	else if (steplist_edit(p, p->list.cursor))
		ui_say(ui, "You (or another program) made this edit; undo leaves it alone.");
	else if (l && l->kind == LINE_FILE)
		ui_restore(ui, st->id, steplist_stat(p, st)->list[l->sub].name);
	else if (!st)
		ui_say(ui, "There is no step to undo.");
	else
		ui_undo(ui, UNDO_BACK, st->id);
	return true;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

/* Returns the diff of a row, for the pane beside or a popup; NULL: it has none. */
static struct view *diff_of(const struct view_steps *p, const struct line *l)
{
	const struct model *m = p->v.ui->spec.model;
	const struct step_stat *stat;
	struct ui *ui = p->v.ui;
	struct view *v;

	switch (l->kind) {
	case LINE_STEP:
	case LINE_GIT:
		return view_step_new(ui, m->steps[l->at].id);
	case LINE_FILE:
		stat = steplist_stat(p, &m->steps[l->at]);
		v = view_step_new(ui, m->steps[l->at].id);
		if (stat && l->sub < stat->n)
			step_want((struct view_step *)v, stat->list[l->sub].name);
		return v;
	case LINE_EDIT:
		return view_edits_new(ui, &m->edits[l->at]);
	case LINE_TURN:
		return view_turn_new(ui, m->steps[l->sub].id,
				     m->steps[steplist_turn_end(m, l->sub) - 1].id,
				     m->turns[l->at].words);
	case LINE_NOTES:
	case LINE_SESSION:
	case LINE_OLDER:
		break;
	}
	return NULL;
}

static void fold(struct view_steps *p, bool open)
{
	const struct line *l = line_at(p);

	if (!l || l->kind == LINE_EDIT)
		return;
	if (l->kind == LINE_FILE || l->kind == LINE_GIT ||
	    (!open && !steplist_is_open(p, l))) { /* folds the row that contains it */
		size_t i = p->list.cursor;

		if (open || !l->depth)
			return;
		while (i > 0 && p->shown[i].depth >= l->depth)
			i--;
		p->list.cursor = i;
		p->list.follow = false;
		p->list.chosen = true;
	} else {
		p->list.follow = false;
		p->list.chosen = true;
		steplist_open(p, l, open);
	}
	pass_headings(p, p->list.cursor);
	steplist_collect(p);
}

static bool open_row(struct view_steps *p)
{
	const struct line *l = line_at(p);
	struct view *v;

	if (l && l->kind == LINE_NOTES) {
		fold(p, !steplist_is_open(p, l));
		return true;
	}
	v = l ? diff_of(p, l) : NULL;
	if (v)
		ui_push(p->v.ui, v);
	return true;
}

static bool has_diff(const struct view_steps *p, const struct line *l)
{
	const struct step_row *st = steplist_step(p, p->list.cursor);

	if (l->kind == LINE_TURN)
		return !p->v.ui->spec.model->steps[l->sub].gone;
	return l->kind == LINE_EDIT || (st && !st->running && !st->gone);
}

/* Keeps the old preview until the new one has something to show. */
static void take_next(struct view_steps *p)
{
	if (!p->next || !step_has_read((struct view_step *)p->next))
		return;
	ui_drop(p->preview);
	p->preview = take_ptr(&p->next);
}

static void forget_preview(struct view_steps *p)
{
	ui_drop(take_ptr(&p->preview));
	ui_drop(take_ptr(&p->next));
	p->preview_of = (struct line_key){0};
}

struct view *view_steps_preview(struct view *v)
{
	struct view_steps *p = (struct view_steps *)v;
	const struct line *l = line_at(p);
	struct line_key k;

	if (!l || !p->stats || !has_diff(p, l)) {
		forget_preview(p);
		return NULL;
	}
	k = steplist_key(p, l);
	if (!p->preview_of.id || k.kind != p->preview_of.kind || k.id != p->preview_of.id ||
	    k.sub != p->preview_of.sub) {
		ui_drop(take_ptr(&p->next));
		p->next = diff_of(p, l);
		step_as_preview((struct view_step *)p->next);
		p->preview_of = k;
	}
	take_next(p);
	return p->preview ? p->preview : p->next;
}

static void changed(struct view *v)
{
	struct view_steps *p = (struct view_steps *)v;

	if (v->ui->focus !=
	    PANE_STEPS) /* it shows nothing, and has as much memory as its step needs */
		forget_preview(p);
	if (p->preview && p->preview->ops->changed)
		p->preview->ops->changed(p->preview);
	if (p->stats)
		steplist_read_all(p);
}

/* ---- keys -------------------------------------------------------------------------------------
 */

static bool act_on_row(struct view_steps *p, enum action a)
{
	const struct line *l = line_at(p);
	const struct step_row *st = steplist_step(p, p->list.cursor);

	switch ((int)a) {
	case ACTION_OPEN:
		return open_row(p);
	case ACTION_FOLD:
		if (l)
			fold(p, !steplist_is_open(p, l));
		return true;
	case ACTION_LEFT:
	case ACTION_RIGHT:
		fold(p, a == ACTION_RIGHT);
		return true;
	case ACTION_ALL_PLACES:
		p->places = !p->places;
		forget_preview(p);
		ui_say(p->v.ui, p->places ? "Steps outside the folder are rows."
					  : "Steps outside the folder are one row.");
		return true;
	case ACTION_UNDO:
		return undo(p);
	case ACTION_UNDO_TURN:
		return undo_turn(p);
	case ACTION_FORK:
		fork_at(p);
		return true;
	case ACTION_MARK:
		if (l && l->kind == LINE_TURN)
			st = &p->v.ui->spec.model->steps[l->sub];
		if (st)
			ui_mark_step(p->v.ui, st->id);
		return true;
	default:
		return false;
	}
}

/* Reviews the selected prompt. Returns false on other rows: the newest turn is reviewed. */
static bool review(struct view_steps *p)
{
	const struct line *l = line_at(p);
	const struct model *m = p->v.ui->spec.model;
	AUTO_BUF struct buf words = BUF_INIT;
	const char *prompt = l && l->kind == LINE_TURN ? m->turns[l->at].words : NULL;
	struct view *v;

	if (!l || l->kind != LINE_TURN)
		return false;
	if (prompt)
		text_escape(&words, prompt, strlen(prompt));
	v = view_review_of(p->v.ui, m->steps[l->sub].id,
			   m->steps[steplist_turn_end(m, l->sub) - 1].id,
			   prompt ? words.data : "one turn");
	if (v)
		ui_push(p->v.ui, v);
	return true;
}

static bool act(struct view *v, enum action a)
{
	struct view_steps *p = (struct view_steps *)v;
	const struct step_row *st;
	size_t from;

	steplist_collect(p);
	from = p->list.cursor;
	st = a == ACTION_COPY ? steplist_step(p, from) : NULL;
	if (st && p->shown[from].kind == LINE_STEP && st->command && *st->command) {
		ui_copy(v->ui, st->command, strlen(st->command));
		return true;
	}
	if (list_keys(&p->list, v->ui, a, p->n, text_of, p)) {
		pass_headings(p, from);
		return true;
	}
	if (act_on_row(p, a) || (a == ACTION_SHOW_REVIEW && review(p)))
		return true;
	if (a != ACTION_BACK || !*p->list.filter)
		return false;
	query(v, QUERY_FILTER, "");
	return true;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_steps *p = (struct view_steps *)v;

	list_mouse(&p->list, m, r, p->n);
	pass_headings(p, p->list.cursor);
	if (m->action == MOUSE_PRESS && m->twice)
		v->ops->act(v, ACTION_OPEN);
}

static void view_free(struct view *v)
{
	struct view_steps *p = (struct view_steps *)v;

	forget_preview(p);
	stats_free(p->stats);
	free(p->shown);
	free(p->opens);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_STEPS,
	.draw = draw,
	.act = act,
	.note = note,
	.query = query,
	.filters = true,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

static void news(void *data)
{
	struct view_steps *p = data;

	p->v.ui->dirty = true;
}

const struct step_stat *view_steps_stat(struct view *steps, int64_t id)
{
	const struct model *m = steps->ui->spec.model;

	for (size_t i = m->n_steps; i > 0; i--)
		if (m->steps[i - 1].id == id)
			return steplist_stat((struct view_steps *)steps, &m->steps[i - 1]);
	return NULL;
}

struct view *view_steps_new(struct ui *ui)
{
	struct view_steps *p = xcalloc(1, sizeof(*p));
	const struct ui_spec *spec = &ui->spec;

	p->v = (struct view){.ops = &ops, .ui = ui};
	p->list.follow = p->list.tails = true;
	if (spec->folders && spec->state_dir && spec->verbs->submit && !spec->replay)
		p->stats = stats_new(&(struct stats_spec){.folders = spec->folders,
							  .state_dir = spec->state_dir,
							  .submit = spec->verbs->submit,
							  .data = spec->data,
							  .news = news,
							  .view = p});
	return &p->v;
}
