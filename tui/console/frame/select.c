/* select - selection of text by the mouse, in any view but the agent's terminal. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/ui.h"

void select_end(struct ui *ui)
{
	struct buf text = ui->selection.text;

	if (text.data)
		buf_clear(&text);
	ui->selection = (struct selection){.text = text};
}

void select_done(struct ui *ui)
{
	if (ui->selection.text.data)
		buf_done(&ui->selection.text);
}

void select_begin(struct ui *ui, const struct view *v, struct rect part, const struct mouse *m)
{
	struct selection *l = &ui->selection;

	select_end(ui);
	if (m->button != 1 || !rect_has(part, m->x, m->y))
		return;
	l->view = v;
	l->part = part;
	l->from_x = l->to_x = m->x;
	l->from_y = l->to_y = m->y;
	l->block = m->mods & MOD_ALT;
	l->held = true;
}

bool select_mouse(struct ui *ui, const struct mouse *m)
{
	struct selection *l = &ui->selection;
	char keys[48];

	if (!l->held || (m->action != MOUSE_DRAG && m->action != MOUSE_RELEASE))
		return false;
	if (m->action == MOUSE_RELEASE) {
		l->held = false;
		if (l->any) {
			ui_keys(ui, PLACE_SCROLL, ACTION_COPY, keys, sizeof(keys));
			ui_say(ui, "%s copies what is selected.", keys);
		} else {
			select_end(ui);
		}
		return true;
	}
	l->to_x = MIN(MAX(m->x, l->part.x), l->part.x + l->part.w - 1);
	l->to_y = MIN(MAX(m->y, l->part.y), l->part.y + l->part.h - 1);
	l->any = true;
	return true;
}

bool select_key(struct ui *ui, const struct key *k)
{
	struct selection *l = &ui->selection;
	bool copies = l->any && keymap_single(ui->spec.keymap, PLACE_SCROLL, *k) == ACTION_COPY;

	if (copies && l->text.len)
		ui_copy(ui, l->text.data, l->text.len);
	select_end(ui);
	return copies;
}

/* Returns the selected columns in a row of the screen; w 0: none. */
static struct rect in_row(const struct selection *l, int y)
{
	bool down = l->from_y < l->to_y || (l->from_y == l->to_y && l->from_x <= l->to_x);
	int top = down ? l->from_y : l->to_y, bottom = down ? l->to_y : l->from_y;
	int first = down ? l->from_x : l->to_x, last = down ? l->to_x : l->from_x;
	int left = l->part.x, right = l->part.x + l->part.w - 1;

	if (y < top || y > bottom)
		return (struct rect){0};
	if (l->block) {
		left = MIN(l->from_x, l->to_x);
		right = MAX(l->from_x, l->to_x);
	} else {
		left = y == top ? first : left;
		right = y == bottom ? last : right;
	}
	return (struct rect){left, y, right - left + 1, 1};
}

static void take_row(const struct surface *s, struct rect row, struct buf *out)
{
	size_t end = out->len;

	for (int x = row.x; x < row.x + row.w; x++) {
		const struct cell *c = surface_cell(s, x, row.y);

		if (!c || c->width == 0)
			continue;
		buf_str(out, *c->text ? c->text : " ");
		if (*c->text && *c->text != ' ')
			end = out->len;
	}
	buf_truncate(out, end);
}

static void paint_row(struct surface *s, struct rect row)
{
	for (int x = row.x; x < row.x + row.w; x++) {
		struct cell *c = surface_cell(s, x, row.y);

		if (c)
			c->style.attr ^= STYLE_REVERSE;
	}
}

/* Returns whether the view is still shown: another popup may cover it. */
static bool is_shown(const struct ui *ui, const struct view *v)
{
	if (ui->n_popups)
		return ui_top(ui) == v;
	for (size_t i = 0; i < PANE_COUNT; i++)
		if (ui->panes[i] == v)
			return true;
	return false;
}

void select_draw(struct ui *ui, struct surface *s)
{
	struct selection *l = &ui->selection;

	if (!l->view)
		return;
	if (!is_shown(ui, l->view)) {
		select_end(ui);
		return;
	}
	if (!l->any)
		return;
	if (!l->text.data)
		l->text = (struct buf)BUF_INIT;
	buf_clear(&l->text);
	for (int y = l->part.y; y < l->part.y + l->part.h; y++) {
		struct rect row = in_row(l, y);

		if (row.w <= 0)
			continue;
		if (l->text.len)
			buf_ch(&l->text, '\n');
		take_row(s, row, &l->text);
		paint_row(s, row);
	}
}
