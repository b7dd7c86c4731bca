/* ui_actions - performs actions that no view handles: popups, undo, prompts, panes. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/ui.h"

#include "tui/console/replay/moment.h"
#include "tui/console/replay/replay.h"

static void to_pane(struct ui *ui, enum pane p)
{
	while (ui->n_popups > 0)
		ui_pop(ui);
	ui_focus(ui, p);
}

/* Leaves a list. */
static void back_to_agent(struct ui *ui)
{
	char keys[32];

	if (!ui_has_terminal(ui))
		ui_say(ui, "%s leaves: the session goes on.",
		       ui_keys(ui, PLACE_GLOBAL, ACTION_QUIT, keys, sizeof(keys)));
	else if (ui->focus != PANE_TERMINAL)
		ui_focus(ui, PANE_TERMINAL);
}

static bool open_popup(struct ui *ui, enum place place)
{
	return ui->n_popups > 0 && ui_top(ui)->ops->place == place;
}

/* Opened a moment too late, the keys of the dialog are none of the agent's. */
static void show_approvals(struct ui *ui)
{
	if (ui->spec.model->n_asks == 0) {
		ui_say(ui, "Nothing waits for an answer.");
		ui_swallow(ui);
	} else if (!open_popup(ui, PLACE_APPROVALS)) {
		ui_push(ui, dialog_approval_new(ui));
	}
}

void ui_cordon(struct ui *ui, const char *const *words, size_t n)
{
	struct err err = {0};

	if (!ui->spec.verbs->cordon)
		ui_say(ui, "In a terminal of its own: cordon %s", words[0]);
	else if (ui->spec.verbs->cordon(ui->spec.data, words, n, &err) < 0)
		ui_say(ui, "x %s", err.text);
}

static void leave(struct ui *ui)
{
	if (ui->spec.model->exited || ui->spec.replay || ui->spec.headless || ui->spec.read_only)
		ui->spec.verbs->leave(ui->spec.data);
	else if (!open_popup(ui, PLACE_LEAVE))
		ui_push(ui, dialog_leave_new(ui, false));
}

static void restart(struct ui *ui)
{
	if (!ui->spec.verbs->restart)
		ui_say(ui, "The agent is started anew in the session's own console.");
	else if (ui->spec.model->exited)
		ui->spec.verbs->restart(ui->spec.data);
	else if (!open_popup(ui, PLACE_LEAVE))
		ui_push(ui, dialog_leave_new(ui, true));
}

static bool may_plan(struct ui *ui)
{
	if (ui->spec.read_only || ui->spec.replay) {
		ui_say(ui, ui->spec.replay
				   ? "This is a recording: cordon undo rolls steps back."
				   : "You look on: nothing is undone or restored from here.");
		return false;
	}
	if (ui->spec.model->job.active)
		ui_say(ui, "Another undo or redo is still at work.");
	return !ui->spec.model->job.active && !open_popup(ui, PLACE_PLAN);
}

/* Explains why a step cannot be undone; NULL: it can. */
static const char *why_not(const struct ui *ui, int64_t step)
{
	const struct model *m = ui->spec.model;

	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];

		if (s->id == step && s->gone)
			return "can no longer be undone: it made room for newer ones "
			       "(journal.steps, journal.size).";
		if (s->id == step && s->undone)
			return s->over ? "is undone already, and no redo brings it back: newer "
					 "steps were kept."
				       : "is undone already: redo brings it back.";
	}
	return NULL;
}

void ui_undo(struct ui *ui, enum undo_kind kind, int64_t step)
{
	const char *why = kind == UNDO_BACK ? why_not(ui, step) : NULL;

	if (why)
		ui_say(ui, "Step %lld %s", (long long)step, why);
	else if (may_plan(ui))
		ui_push(ui, dialog_plan_new(ui, kind, step));
}

void ui_restore(struct ui *ui, int64_t step, const char *path)
{
	if (may_plan(ui))
		ui_push(ui, dialog_restore_new(ui, step, path));
}

/* Skips steps that changed only granted places: they are the agent's own notes. */
bool ui_undo_newest(struct ui *ui)
{
	const struct model *m = ui->spec.model;

	for (size_t i = m->n_steps; i > 0; i--) {
		const struct step_row *s = &m->steps[i - 1];
		const bool elsewhere = s->elsewhere || step_row_is_note(s); /* while it runs */

		if (!s->undone && !s->gone && (!elsewhere || m->undo_home)) {
			ui_undo(ui, UNDO_BACK, s->id);
			return true;
		}
	}
	return false;
}

/* Opens a prompt also if the view has no search: typed words must not become commands. */
static void open_prompt(struct ui *ui, enum query what)
{
	struct view *v = ui_top(ui);

	if (!v->ops->query || (what == QUERY_FILTER && !v->ops->filters))
		v = NULL;
	ui->prompt = (struct prompt){.active = true, .what = what, .view = v};
	ui->dirty = true;
}

/* Opens the popup of this action, unless it is open. Returns whether the action has one. */
static bool show(struct ui *ui, enum action a)
{
	static const struct {
		enum action action;
		enum place place;
		struct view *(*make)(struct ui *ui);
	} popups[] = {
#define X(act, where, func) {ACTION_##act, PLACE_##where, func},
		POPUPS(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_LEN(popups); i++) {
		struct view *v;

		if (popups[i].action != a)
			continue;
		v = open_popup(ui, popups[i].place) ? NULL : popups[i].make(ui);
		if (v)
			ui_push(ui, v);
		return true;
	}
	return false;
}

/* Performs actions on the user's own terminal. */
static void with_terminal(struct ui *ui, enum action a)
{
	if (a == ACTION_CLIPBOARD)
		clipboard_allow(ui);
	else if (a == ACTION_SUSPEND)
		ui->spec.verbs->suspend(ui->spec.data);
	else
		ui->spec.verbs->redraw(ui->spec.data);
}

static void open_shell(struct ui *ui)
{
	struct err err = {0};

	if (!ui->spec.verbs->shell)
		ui_say(ui, "No shell can be opened beside the agent from here.");
	else if (ui->spec.verbs->shell(ui->spec.data, &err) < 0)
		ui_say(ui, "x %s", err.text);
}

/* Performs an action of the board, which has no session. */
static bool board_global(struct ui *ui, enum action a)
{
	switch ((int)a) {
	case ACTION_QUIT:
		ui->spec.verbs->leave(ui->spec.data);
		return true;
	case ACTION_SUSPEND:
	case ACTION_REDRAW:
		with_terminal(ui, a);
		return true;
	case ACTION_SEARCH:
	case ACTION_FILTER:
		open_prompt(ui, a == ACTION_SEARCH ? QUERY_SEARCH : QUERY_FILTER);
		return true;
	case ACTION_BACK:
		if (ui->n_popups > 1)
			ui_pop(ui);
		return true;
	case ACTION_HELP:
	case ACTION_PALETTE:
	case ACTION_SHOW_THEMES:
	case ACTION_SHOW_LOG:
	case ACTION_SHOW_RECORDINGS:
		return show(ui, a);
	default:
		return false;
	}
}

bool ui_global(struct ui *ui, enum action a)
{
	if (ui->spec.board)
		return board_global(ui, a);
	if (moment_act(ui, a) || (ui->spec.replay && replay_act(ui, a)) || ui_since(ui, a) ||
	    panes_act(ui, a) || note_act(ui, a) || show(ui, a))
		return true;
	switch ((int)a) {
	case ACTION_QUIT:
		leave(ui);
		return true;
	case ACTION_RESTART:
		restart(ui);
		return true;
	case ACTION_SHELL:
		open_shell(ui);
		return true;
	case ACTION_CLIPBOARD:
	case ACTION_SUSPEND:
	case ACTION_REDRAW:
		with_terminal(ui, a);
		return true;
	case ACTION_SCROLL:
		to_pane(ui, PANE_TERMINAL);
		ui->panes[PANE_TERMINAL]->ops->act(ui->panes[PANE_TERMINAL], a);
		return true;
	case ACTION_ZOOM:
		ui->zoom = !ui->zoom;
		ui_focus(ui, ui->focus);
		return true;
	case ACTION_FOCUS_NEXT:
		to_pane(ui, panes_next(ui, false));
		return true;
	case ACTION_FOCUS_PREV:
		to_pane(ui, panes_next(ui, true));
		return true;
	case ACTION_FOCUS_TERMINAL:
		to_pane(ui, PANE_TERMINAL);
		return true;
	case ACTION_FOCUS_AUDIT:
		to_pane(ui, PANE_AUDIT);
		return true;
	case ACTION_FOCUS_STEPS:
		to_pane(ui, PANE_STEPS);
		return true;
	case ACTION_FOCUS_APPROVALS:
		show_approvals(ui);
		return true;
	case ACTION_UNDO:
		if (!ui_undo_newest(ui))
			ui_say(ui, "There is no step to undo.");
		return true;
	case ACTION_REDO:
		ui_undo(ui, UNDO_REDO, 0);
		return true;
	case ACTION_SEARCH:
		open_prompt(ui, QUERY_SEARCH);
		return true;
	case ACTION_FILTER:
		open_prompt(ui, QUERY_FILTER);
		return true;
	case ACTION_BACK:
		if (ui->n_popups > 0)
			ui_pop(ui);
		else
			back_to_agent(ui);
		return true;
	default:
		return false;
	}
}

void ui_do(struct ui *ui, enum action a)
{
	struct view *top = ui_top(ui);

	if (!top->ops->act(top, a))
		ui_global(ui, a);
}
