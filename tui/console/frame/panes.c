/* panes - which panes are shown, and their size: layouts, borders moved by keys and mouse,
 * hiding. */
/* SPDX-License-Identifier: MIT */
#include "core/base/path.h"
#include "tui/console/frame/ui.h"

/* Returns the file of the layouts. Replays and sessions without a terminal have their own. */
static char *file_of(const struct ui *ui)
{
	if (!ui->spec.state_dir)
		return NULL;
	return path_join(ui->spec.state_dir, ui->spec.replay	   ? "layouts-replay"
					     : ui_has_terminal(ui) ? "layouts"
								   : "layouts-headless");
}

void panes_load(struct ui *ui)
{
	AUTO_FREE char *file = file_of(ui);

	if (file)
		layouts_load(&ui->layouts, file);
	if (ui_has_terminal(ui))
		return;
	ui->layouts.otherwise.hidden = 1u << PANE_TERMINAL;
	ui->focus = PANE_AUDIT;
}

void panes_save(struct ui *ui)
{
	AUTO_FREE char *file = file_of(ui);

	if (file && ui->layouts.changed && layouts_save(&ui->layouts, file) == 0)
		ui->layouts.changed = false;
}

static int height(const struct ui *ui)
{
	return ui->layout.body.h + (ui->layout.mode == LAYOUT_TOO_SMALL ? 0 : 2);
}

static void wished(struct ui *ui)
{
	int w = ui->layout.body.w, h = height(ui);

	layouts_put(&ui->layouts, w, h, &ui->wish);
	ui_relayout(ui, w, h);
}

static bool is_shown(const struct ui *ui, enum pane p)
{
	return !(ui->wish.hidden & 1u << p);
}

void panes_show(struct ui *ui, enum pane p)
{
	if (is_shown(ui, p))
		return;
	ui->wish.hidden &= ~(1u << p);
	layouts_put(&ui->layouts, ui->layout.body.w, height(ui), &ui->wish);
}

enum pane panes_next(const struct ui *ui, bool back)
{
	enum pane p = ui->focus;

	do
		p = (enum pane)((p + (back ? PANE_COUNT - 1 : 1)) % PANE_COUNT);
	while (!is_shown(ui, p) && p != ui->focus);
	return p;
}

static void hide(struct ui *ui)
{
	enum pane p = ui->focus, next = panes_next(ui, false);

	if (next == p) {
		ui_say(ui, "The last pane stays.");
		return;
	}
	ui->wish.hidden |= 1u << p;
	ui_focus(ui, next);
	wished(ui);
}

/* Selects the next layout that has room; after the last one: by size. */
static void next_layout(struct ui *ui)
{
	static const enum layout_mode order[] = {LAYOUT_TOO_SMALL, LAYOUT_WIDE, LAYOUT_STACKED,
						 LAYOUT_PORTRAIT, LAYOUT_TABS};
	size_t at = 0;

	while (order[at] != ui->wish.mode)
		at++;
	ui->zoom = false;
	do {
		at = (at + 1) % ARRAY_LEN(order);
		ui->wish.mode = order[at];
		ui->wish.main = ui->wish.side = 0;
		ui_relayout(ui, ui->layout.body.w, height(ui));
	} while (order[at] != LAYOUT_TOO_SMALL && ui->layout.mode != order[at]);
	wished(ui);
	ui_say(ui, "Layout: %s.", layout_mode_name(ui->wish.mode));
}

static void nudge(struct ui *ui, int dx, int dy)
{
	if (layout_nudge(&ui->layout, dx, dy, &ui->wish))
		wished(ui);
	else
		ui_say(ui, "There is no border that goes there.");
}

bool panes_act(struct ui *ui, enum action a)
{
	switch ((int)a) {
	case ACTION_LAYOUT:
		next_layout(ui);
		return true;
	case ACTION_HIDE:
		hide(ui);
		return true;
	case ACTION_BORDER_LEFT:
	case ACTION_BORDER_RIGHT:
		nudge(ui, a == ACTION_BORDER_LEFT ? -1 : 1, 0);
		return true;
	case ACTION_BORDER_UP:
	case ACTION_BORDER_DOWN:
		nudge(ui, 0, a == ACTION_BORDER_UP ? -1 : 1);
		return true;
	default:
		return false;
	}
}

/* Handles a press or drag on a border. A press focuses a pane as well, so it is not consumed. */
bool panes_mouse(struct ui *ui, const struct mouse *m)
{
	if (m->action == MOUSE_PRESS)
		ui->dragged =
			m->button == 1 ? layout_border_at(&ui->layout, m->x, m->y) : BORDER_NONE;
	if (m->action == MOUSE_RELEASE || ui->dragged == BORDER_NONE) {
		ui->dragged = BORDER_NONE;
		return false;
	}
	if (m->action != MOUSE_DRAG)
		return false;
	layout_move(&ui->layout, ui->dragged, m->x, m->y, &ui->wish);
	wished(ui);
	return true;
}
