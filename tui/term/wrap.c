/* wrap - marks the rows whose text continues in the next row. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

/*
 * Theory of operation. A layout for another width must know which rows are one line. libvterm 0.1
 * wraps but does not store that. So the column is counted here, and the last character of a row
 * that wraps is printed in a font of its own (FONT_WRAP): the mark moves with the cell. After a
 * possible movement of the cursor the column is unknown, and libvterm is asked for it before the
 * next character. libvterm does not report a pending wrap: in the last column it gets a sequence
 * that ends one. A mark counts in the last column only.
 *
 * The alternate screen is never laid out again, and without autowrap nothing wraps: no marks.
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

/* Returns the column; -1 if it does not matter. */
static int column(struct term *t)
{
	VTermPos pos;

	if (!is_tracked(t)) {
		wrap_lost(t);
	} else if (t->sieve.col < 0) {
		sieve_flush(t);
		vterm_state_get_cursorpos(t->state, &pos);
		t->sieve.col = pos.col;
		if (pos.col + 2 >= t->cols) /* the last character may be wide */
			sieve_fmt(t, "\033[%dG", pos.col + 1);
	}
	return t->sieve.col;
}

/* Prints the last character of a full row again, with the mark, when the next character comes. */
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

/* Marks an empty last column, into which a wide character does not fit, as a blank of that kind. */
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
