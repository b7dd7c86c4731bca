/* ui_mouse - passes mouse events to borders, bars, panes and popups. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/replay/replay.h"
#include "tui/console/frame/ui.h"

#define TWICE_US 400000 /* most time between the presses of a double click */

/* Begins a selection. The agent's pane has its own; a popup with its own place has a frame. */
static void begin_selection(struct ui *ui, const struct view *v, const struct mouse *m,
			    struct rect r)
{
	if (v->ops->place == PLACE_TERMINAL || v->ops->place == PLACE_SCROLL)
		return;
	if (v->ops->part)
		r = v->ops->part(v, r, m->x, m->y);
	else if (v->ops->size)
		r = rect_inset(r, 1, 1);
	select_begin(ui, v, r, m);
}

static void mouse_pane(struct ui *ui, const struct mouse *m)
{
	const struct layout *l = &ui->layout;

	for (enum pane p = 0; p < PANE_COUNT; p++) {
		struct view *v = ui->panes[p];

		if (!rect_has(l->pane[p], m->x, m->y) && !rect_has(l->title[p], m->x, m->y))
			continue;
		if (m->action == MOUSE_PRESS && p != ui->focus) {
			ui_focus(ui, p);
			if (p == PANE_TERMINAL)
				return; /* not a click on the agent */
		}
		if (m->action == MOUSE_PRESS)
			begin_selection(ui, v, m, l->pane[p]);
		if (v->ops->mouse)
			v->ops->mouse(v, m, l->pane[p]);
		return;
	}
	if (m->action == MOUSE_PRESS && rect_has(l->tabs, m->x, m->y))
		ui_focus(ui, (enum pane)MIN((m->x - l->tabs.x) * PANE_COUNT / MAX(l->tabs.w, 1),
					    PANE_COUNT - 1));
}

/* Decisions and ends need more than a click. */
static void press_button(struct ui *ui, int x)
{
	for (size_t i = 0; i < ui->n_buttons; i++) {
		const struct bar_button *b = &ui->buttons[i];

		if (x < b->x || x >= b->x + b->w)
			continue;
		if (keymap_is_grave(b->action) || b->action == ACTION_DENY)
			ui_say(ui, "\"%s\" takes its key.", action_label(b->action));
		else
			ui_do(ui, b->action);
		return;
	}
}

static void mouse_popup(struct ui *ui, const struct mouse *m)
{
	struct view *top = ui_top(ui);
	struct rect body = ui->layout.body;
	struct rect r = top->ops->size ? top->ops->size(top, body) : body;

	if (m->action == MOUSE_PRESS)
		begin_selection(ui, top, m, r);
	if (top->ops->mouse)
		top->ops->mouse(top, m, r);
}

void ui_mouse(struct ui *ui, const struct mouse *given)
{
	struct mouse copy = *given;
	const struct mouse *m = &copy;

	if (m->action == MOUSE_PRESS) {
		select_end(ui);
		copy.twice = ui->pressed_us && ui->now_us - ui->pressed_us < TWICE_US &&
			     m->x == ui->pressed.x && m->y == ui->pressed.y;
		ui->pressed = copy;
		ui->pressed_us = copy.twice ? 0 : ui->now_us; /* a third press begins anew */
	}
	if (select_mouse(ui, m))
		return;
	if (ui->spec.replay && m->action == MOUSE_PRESS && rect_has(ui->layout.status, m->x, m->y))
		replay_click(ui, m->x, ui->layout.status);
	else if (m->action == MOUSE_PRESS && rect_has(ui->layout.hints, m->x, m->y))
		press_button(ui, m->x);
	else if (ui->n_popups == 0 && panes_mouse(ui, m))
		return;
	else if (ui->n_popups == 0)
		mouse_pane(ui, m);
	else
		mouse_popup(ui, m);
}
