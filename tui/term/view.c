/* view - chooses the lines that the pane shows, and paints them. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

static uint64_t screen_line(const struct term *t)
{
	return t->first_line + t->history.count;
}

uint64_t term_end(const struct term *t)
{
	return screen_line(t) + (uint64_t)t->rows;
}

uint64_t term_top(const struct term *t)
{
	if (t->follow)
		return screen_line(t);
	return MIN(MAX(t->view, t->first_line), screen_line(t));
}

struct span term_line(struct term *t, uint64_t line)
{
	if (line < screen_line(t))
		return scrollback_line(&t->history, (size_t)(line - t->first_line));
	return term_row(t, (int)(line - screen_line(t)));
}

void term_show_line(struct term *t, uint64_t line)
{
	uint64_t top = term_top(t), rows = (uint64_t)t->rows;

	t->dirty = true;
	if (line >= top && line < top + rows)
		return;
	t->view = line > t->first_line + rows / 2 ? line - rows / 2 : t->first_line;
	t->follow = t->view >= screen_line(t);
}

void term_scroll(struct term *t, long lines)
{
	uint64_t top = term_top(t), by;

	if (lines > 0) {
		by = MIN((uint64_t)lines, top - t->first_line);
		t->view = top - by;
	} else {
		by = MIN(0 - (uint64_t)lines, screen_line(t) - top);
		t->view = top + by;
	}
	t->follow = t->view == screen_line(t);
	t->dirty = true;
}

void term_scroll_end(struct term *t)
{
	t->follow = true;
	t->dirty = true;
}

size_t term_scrolled(const struct term *t)
{
	return (size_t)(screen_line(t) - term_top(t));
}

size_t term_history(const struct term *t)
{
	return t->history.count;
}

void term_forget_history(struct term *t)
{
	t->first_line += t->history.count;
	scrollback_clear(&t->history);
	t->follow = true;
	t->dirty = true;
}

bool term_cursor(const struct term *t, struct term_cursor *ret)
{
	VTermPos pos;
	uint64_t row;

	vterm_state_get_cursorpos(t->state, &pos);
	row = (uint64_t)pos.row + term_scrolled(t);
	if (!t->cursor_visible || row >= (uint64_t)t->rows)
		return false;
	ret->row = (int)row;
	ret->col = MIN(MAX(pos.col, 0), t->cols - 1);
	switch (t->cursor_shape) {
	case VTERM_PROP_CURSORSHAPE_UNDERLINE:
		ret->shape = CURSOR_UNDERLINE;
		break;
	case VTERM_PROP_CURSORSHAPE_BAR_LEFT:
		ret->shape = CURSOR_BAR;
		break;
	default:
		ret->shape = CURSOR_BLOCK;
	}
	return true;
}

/* Tracks the matches of a line while its cells are drawn. */
struct marker {
	const struct search *search;
	struct span text;
	long match; /* offset of the match at or after the cell; -1: no more */
	bool current_line;
};

static void mark_cell(struct marker *m, size_t at, struct style *st)
{
	size_t len = m->search->needle ? strlen(m->search->needle) : 0;

	while (m->match >= 0 && at >= (size_t)m->match + len)
		m->match = search_in(m->search, m->text, (size_t)m->match + len);
	if (m->match < 0 || at < (size_t)m->match)
		return;
	/* Attributes are changed, not colours: they are visible without colour. */
	st->attr ^= STYLE_REVERSE;
	if (m->current_line && (size_t)m->match == m->search->at)
		st->attr |= STYLE_BOLD | STYLE_UNDERLINE;
}

static int draw_line(struct term *t, struct surface *s, struct rect r, int y, uint64_t line)
{
	struct span encoded;
	struct marker m = {.search = &t->search, .match = -1};
	struct line_reader reader;
	struct line_cell c;
	int x = 0, from = 0, to = -1;

	/* Before the row is used: both use the same cells. */
	if (!copy_range(t, line, &from, &to))
		to = -1;
	encoded = term_line(t, line);
	m.text = line_text(encoded);
	if (t->search.needle)
		m.match = search_in(&t->search, m.text, 0);
	m.current_line = t->search.found && t->search.line == line;
	line_read(&reader, encoded);
	while (x < r.w && line_next(&reader, &c)) {
		struct style st = c.style;

		mark_cell(&m, (size_t)(c.text - m.text.data), &st);
		if (st.link)
			st.attr |= STYLE_UNDERLINE;
		if (t->reverse != (x + c.cols > from && x <= to))
			st.attr ^= STYLE_REVERSE;
		if (x + c.cols > r.w) {
			c.text = " ";
			c.len = 1;
			c.cols = 1;
		}
		surface_put(s, r.x + x, y, c.text, c.len, c.cols, &st);
		x += c.cols;
	}
	/* A selected empty line is highlighted in its first column. */
	if (x == 0 && from == 0 && to >= 0 && r.w > 0) {
		struct style st = {.attr = t->reverse ? 0 : STYLE_REVERSE};

		surface_put(s, r.x, y, " ", 1, 1, &st);
		x = 1;
	}
	return x;
}

void term_draw(struct term *t, struct surface *s, struct rect r)
{
	struct style blank = {.attr = t->reverse ? STYLE_REVERSE : 0};
	uint64_t top = term_top(t), end = term_end(t);

	t->dirty = false;
	for (int row = 0; row < r.h; row++) {
		uint64_t line = top + (uint64_t)row;
		int x = 0;

		if (row < t->rows && line < end)
			x = draw_line(t, s, r, r.y + row, line);
		for (; x < r.w; x++)
			surface_put(s, r.x + x, r.y + row, " ", 1, 1, &blank);
	}
}

void term_text(struct term *t, struct buf *out)
{
	uint64_t top = term_top(t);

	for (int row = 0; row < t->rows; row++) {
		struct span text = line_text(term_line(t, top + (uint64_t)row));

		buf_add(out, text.data, text.len);
		buf_ch(out, '\n');
	}
}

void term_take_history(struct term *t, struct buf *out)
{
	for (size_t i = 0; i < t->history.count; i++) {
		struct span text = line_text(scrollback_line(&t->history, i));

		buf_add(out, text.data, text.len);
		buf_ch(out, '\n');
	}
	term_forget_history(t);
}
