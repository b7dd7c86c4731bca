/* wrap - marks the rows whose text goes on in the next one. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

/*
 * Theory of operation. To lay lines out for another width one must know which rows are one line.
 * libvterm 0.1 wraps but does not remember it. So the column is counted here, and the last
 * character of a row that wraps is printed in a font of its own (FONT_WRAP): the mark moves and
 * goes with the cell. Where the cursor may have been moved the column is lost, and libvterm is
 * asked before the next character. What it cannot be asked is whether the next character wraps: in
 * the last column it is told that it does not. A mark counts in the last column only.
 *
 * The alternate screen is never laid out anew, and without autowrap nothing wraps: no marks.
 */

void wrap_lost(struct term *t)
{
	t->sieve.col = -1;
	t->sieve.full = false;
}

static bool is_tracked(const struct term *t)
{
	return !t->alt && !t->sieve.nowrap;
}

/* The column, or -1: it does not matter. */
static int column(struct term *t)
{
	VTermPos pos;

	if (!is_tracked(t)) {
		wrap_lost(t);
	} else if (t->sieve.col < 0) {
		sieve_flush(t);
		vterm_state_get_cursorpos(t->state, &pos);
		t->sieve.col = pos.col;
		if (pos.col + 2 >= t->cols) /* (where the last character is wide) */
			sieve_fmt(t, "\033[%dG", pos.col + 1);
	}
	return t->sieve.col;
}

/* The row is full and the next character comes: the last one is printed again, with the mark. */
static void mark_last(struct term *t)
{
	struct sieve *s = &t->sieve;
	struct pen pen = s->pen;
	VTermScreenCell cell;
	VTermPos pos;

	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &pos);
	if (!s->last || !vterm_screen_get_cell(t->screen, pos, &cell) ||
	    cell.chars[0] != (uint32_t)s->last || pos.col + cell.width != t->cols)
		return;
	s->pen = s->full_pen;
	if (!pen_equal(&pen, &s->pen))
		pen_emit(t);
	sieve_fmt(t, "\033[%dG", pos.col + 1);
	pen_font(t, FONT_WRAP);
	sieve_glyph(t, s->last, s->extra);
	for (unsigned i = 0; i < s->marks; i++)
		sieve_cp(t, s->mark[i]);
	s->pen = pen;
	pen_emit(t);
}

static bool is_empty(const struct term *t, const VTermScreenCell *c)
{
	return !c->chars[0] || (c->chars[0] == ' ' && !c->attrs.underline && !c->attrs.strike &&
				(bool)c->attrs.reverse == t->reverse);
}

/* A wide character does not fit into the last column: if that is empty it becomes a blank that says
 * so. */
static void mark_pad(struct term *t)
{
	struct sieve *s = &t->sieve;
	struct pen pen = s->pen;
	VTermScreenCell cell;
	VTermPos pos;

	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &pos);
	if (pos.col + 1 != t->cols || !vterm_screen_get_cell(t->screen, pos, &cell) ||
	    !is_empty(t, &cell))
		return;
	s->pen = (struct pen){.bg = cells_colour(&cell.bg)};
	pen_emit(t);
	pen_font(t, FONT_PAD);
	sieve_emit(t, " ", 1);
	s->pen = pen;
	pen_emit(t);
}

void wrap_before(struct term *t, int width)
{
	struct sieve *s = &t->sieve;

	if (column(t) < 0 || (!s->full && s->col + width <= t->cols))
		return;
	if (s->full)
		mark_last(t);
	else
		mark_pad(t);
	s->col = 0;
	s->full = false;
}

void wrap_after(struct term *t, int width)
{
	struct sieve *s = &t->sieve;

	if (s->col < 0)
		return;
	s->col += width;
	s->full = s->col >= t->cols;
	if (s->full)
		s->full_pen = s->pen;
}

size_t wrap_run(struct term *t, const char *ascii, size_t len)
{
	struct sieve *s = &t->sieve;
	size_t n;

	wrap_before(t, 1);
	if (s->col < 0) {
		sieve_emit(t, ascii, len);
		return len;
	}
	n = MIN(len, (size_t)(t->cols - s->col));
	if (n == len) {
		sieve_emit(t, ascii, n);
		wrap_after(t, (int)n);
		return n;
	}
	sieve_emit(t, ascii, n - 1);
	pen_font(t, FONT_WRAP);
	sieve_emit(t, ascii + n - 1, 1);
	pen_font(t, 0);
	s->col = 0;
	return n;
}
