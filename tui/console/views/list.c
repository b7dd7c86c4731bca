/* list - cursor, scrolling, search and filter, shared by all lists of the console. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/list.h"

#include <string.h>

#include "tui/console/frame/ui.h"

void list_fit(struct list *l, size_t count, int page)
{
	l->page = (size_t)MAX(page, 1);
	if (count == 0) {
		l->cursor = l->top = 0;
		return;
	}
	if (l->cursor >= count || (l->follow && l->cursor != count - 1)) {
		l->cursor = count - 1;
		l->chosen = false;
	}
	if (l->cursor < l->top)
		l->top = l->cursor;
	if (l->cursor >= l->top + l->page)
		l->top = l->cursor - l->page + 1;
	if (l->top + l->page > count)
		l->top = count > l->page ? count - l->page : 0;
}

static void move_to(struct list *l, size_t row, size_t count)
{
	l->cursor = count ? MIN(row, count - 1) : 0;
	l->follow = false;
	l->chosen = true;
}

/* Moves down; a cursor that reaches the last row follows new rows. */
static void move_down(struct list *l, size_t rows, size_t count)
{
	bool last = l->cursor + rows + 1 >= count;

	move_to(l, l->cursor + rows, count);
	l->follow = last && l->tails;
}

bool list_act(struct list *l, enum action a, size_t count)
{
	size_t step = MAX(l->page, (size_t)2) - 1;

	switch ((int)a) {
	case ACTION_UP:
		move_to(l, l->cursor ? l->cursor - 1 : 0, count);
		return true;
	case ACTION_DOWN:
		move_down(l, 1, count);
		return true;
	case ACTION_PAGE_UP:
		l->top -= MIN(step, l->top);
		move_to(l, l->cursor > step ? l->cursor - step : 0, count);
		return true;
	case ACTION_PAGE_DOWN:
		l->top += step; /* list_fit() keeps the last page full */
		move_down(l, step, count);
		return true;
	case ACTION_TOP:
		move_to(l, 0, count);
		return true;
	case ACTION_BOTTOM:
		move_to(l, count, count);
		l->follow = true;
		l->chosen = false;
		return true;
	default:
		return false;
	}
}

void list_scroll(struct list *l, int rows, size_t count)
{
	if (rows < 0)
		move_to(l, l->cursor > (size_t)-rows ? l->cursor - (size_t)-rows : 0, count);
	else
		move_down(l, (size_t)rows, count);
}

static bool seek(struct list *l, size_t from, bool back, size_t count, list_text text, void *data)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		size_t row = back ? (from + count - i) % count : (from + i) % count;

		buf_clear(&b);
		text(data, row, &b);
		if (strcasestr(b.data, l->search)) {
			move_to(l, row, count);
			return true;
		}
	}
	return false;
}

bool list_search(struct list *l, const char *needle, size_t count, list_text text, void *data)
{
	if (!*l->search)
		l->origin = l->cursor;
	snprintf(l->search, sizeof(l->search), "%s", needle);
	if (!*needle || !count)
		return true;
	return seek(l, MIN(l->origin, count - 1), false, count, text, data);
}

bool list_search_next(struct list *l, bool back, size_t count, list_text text, void *data)
{
	if (!*l->search || !count)
		return false;
	return seek(l, back ? l->cursor + count - 1 : l->cursor + 1, back, count, text, data);
}

bool list_match(const char *filter, const char *text)
{
	char copy[LIST_QUERY], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", filter);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		bool without = *w == '!' && w[1];

		if ((strcasestr(text, w + without) != NULL) == without)
			return false;
	}
	return true;
}

void list_draw(struct list *l, struct surface *s, struct rect r, bool focused, size_t count,
	       const char *empty, list_row draw, void *data)
{
	l->at = r;
	surface_fill(s, r, ROLE_TEXT);
	list_fit(l, count, r.h);
	if (count == 0)
		surface_hostile_end(s, r.x + 2, r.y, r.w - 3, ROLE_DIM, empty);
	for (int y = 0; y < r.h && l->top + (size_t)y < count; y++) {
		size_t i = l->top + (size_t)y;
		struct rect line = {r.x, r.y + y, r.w, 1};

		draw(data, s, line, i);
		ui_row_style(s, line, i == l->cursor && (focused || !l->follow), focused);
		ui_mark(s, line, l->search);
	}
}

bool list_keys(struct list *l, struct ui *ui, enum action a, size_t count, list_text text,
	       void *data)
{
	list_fit(l, count, (int)l->page);
	if (list_act(l, a, count))
		return true;
	if (a == ACTION_COPY && l->cursor < count) {
		AUTO_BUF struct buf words = BUF_INIT;

		text(data, l->cursor, &words);
		if (words.len)
			ui_copy(ui, words.data, words.len);
		return true;
	}
	if (a != ACTION_SEARCH_NEXT && a != ACTION_SEARCH_PREV)
		return false;
	if (!list_search_next(l, a == ACTION_SEARCH_PREV, count, text, data))
		ui_say(ui, "No match.");
	return true;
}

void list_mouse(struct list *l, const struct mouse *m, struct rect r, size_t count)
{
	if (m->action == MOUSE_WHEEL_UP)
		list_scroll(l, -3, count);
	else if (m->action == MOUSE_WHEEL_DOWN)
		list_scroll(l, 3, count);
	else if (m->action == MOUSE_PRESS && rect_has(r, m->x, m->y))
		move_to(l, l->top + (size_t)(m->y - r.y), count);
}

bool list_note(const struct list *l, size_t count, char *out, size_t size)
{
	if (*l->filter)
		snprintf(out, size, "filter: %s (%zu)", l->filter, count);
	else if (!l->follow && count > 0)
		snprintf(out, size, "%zu of %zu", l->cursor + 1, count);
	else
		return false;
	return true;
}
