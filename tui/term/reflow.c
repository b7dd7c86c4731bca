/* reflow - lays history and screen out for another size. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#include "core/base/text.h"

/*
 * Theory of operation. Rows that wrap.c marked are joined to lines, and the lines are cut into rows
 * of the new width. The newest rows become the screen, which is painted again in libvterm; the rest
 * is the history. Nothing is lost: the history may have more rows than usual while the screen is
 * narrow. Only rows below the cursor go when they do not fit below it.
 *
 * The screen keeps its first line if it can: empty rows at the bottom stay empty, other room is
 * filled from the history. While nothing is printed it goes back to the line that was first before
 * (the anchor).
 *
 * The main screen cannot be reached while the alternate one is shown: its rows are kept here, and
 * laid out when it comes back.
 */

#define REFLOW_LINES (16 * TERM_SCROLLBACK_LINES)
#define REFLOW_BYTES (4 * SCROLLBACK_BYTES)

/* Encoded rows of a screen. */
struct rows {
	struct buf bytes;
	size_t at[TERM_MAX + 1];
	size_t n;
};

/* A screen to be laid out. */
struct kept {
	struct rows rows; /* without empty rows at the bottom */
	int n_rows, cols;
	VTermPos cursor; /* a column past the last one: the next character wraps */
	bool resized;
};

/* A place in the old rows, and the same place in the new ones. */
struct point {
	size_t row;
	int col;
	bool placed;
	size_t new_row;
	int new_col;
};

enum {
	POINT_CURSOR,
	POINT_TOP,
	POINT_ANCHOR,
	POINT_VIEW,
	POINTS,
};

struct layout {
	struct scrollback out;
	struct line_writer writer;
	size_t old_rows;
	int cols, x;
	bool open;   /* the line continues in the next old row */
	size_t row;  /* new rows so far */
	size_t gone; /* new rows that were dropped, because there are too many */
	struct point point[POINTS];
};

static void rows_add(struct rows *r, struct span line)
{
	r->at[r->n++] = r->bytes.len;
	buf_add(&r->bytes, line.data, line.len);
	r->at[r->n] = r->bytes.len;
}

static struct span rows_line(const struct rows *r, size_t i)
{
	return (struct span){.data = r->bytes.data + r->at[i], .len = r->at[i + 1] - r->at[i]};
}

static void kept_free(struct kept *k)
{
	if (!k)
		return;
	buf_done(&k->rows.bytes);
	free(k);
}

static void kept_cleanup(struct kept **k)
{
	kept_free(*k);
}

static struct kept *keep_screen(struct term *t)
{
	struct kept *k = xcalloc(1, sizeof(*k));
	size_t used;

	k->rows.bytes = (struct buf)BUF_INIT;
	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &k->cursor);
	k->n_rows = t->rows;
	k->cols = t->cols;
	used = (size_t)k->cursor.row + 1;
	for (int row = 0; row < t->rows; row++) {
		struct span line = term_row(t, row);

		rows_add(&k->rows, line);
		if (line_text(line).len)
			used = MAX(used, (size_t)row + 1);
	}
	k->rows.n = used;
	return k;
}

/* ---- lines into rows --------------------------------------------------------------------------
 */

static void end_row(struct layout *l, unsigned flags)
{
	l->writer.flags = flags;
	l->gone += scrollback_push(&l->out, line_end(&l->writer));
	l->row++;
	l->x = 0;
	line_begin(&l->writer);
}

static void make_room(struct layout *l, int cols)
{
	if (l->x + cols > l->cols)
		end_row(l, LINE_WRAPS | (l->x < l->cols ? LINE_PADDED : 0));
}

static bool has_point(const struct layout *l, size_t row)
{
	for (size_t i = 0; i < POINTS; i++)
		if (l->point[i].row == row)
			return true;
	return false;
}

/* Places the points in the next cols columns of this row, from col on. */
static void place_points(struct layout *l, size_t row, int col, int cols)
{
	for (size_t i = 0; i < POINTS; i++) {
		struct point *p = &l->point[i];

		if (p->row != row || p->placed || p->col < col || p->col - col >= cols)
			continue;
		p->placed = true;
		p->new_row = l->row;
		p->new_col = l->x + (p->col - col);
		if (p->col > col)
			p->new_col = MIN(p->new_col, l->cols - 1);
	}
}

/* Returns the column from which a full row has only a background: this is no text and extends to
 * any new width. Returns old_cols if there is none. */
static int fill_start(struct span line, unsigned flags, int old_cols, uint32_t *ret_bg)
{
	struct line_reader r;
	struct line_cell c;
	int col = 0, from = -1;

	*ret_bg = COLOR_DEFAULT;
	if (line.data[line.len - 1] != ' ' || flags)
		return old_cols;
	line_read(&r, line);
	for (; line_next(&r, &c); col += c.cols) {
		if (*c.text != ' ' || c.style.attr || !c.style.bg)
			from = -1;
		else if (from < 0 || c.style.bg != *ret_bg)
			from = col;
		*ret_bg = c.style.bg;
	}
	return col == old_cols && from >= 0 ? from : old_cols;
}

static void fill(struct layout *l, uint32_t bg)
{
	struct style st = {.bg = bg};

	for (; l->x < l->cols; l->x++)
		line_cell(&l->writer, " ", 1, 1, &st);
}

/* Copies a row unchanged, if it is a line of its own and fits. Returns whether it did so. */
static bool copy_row(struct layout *l, size_t i, struct span line)
{
	struct span text = line_text(line);

	if (l->open || line_flags(line) || has_point(l, i) || line.data[line.len - 1] == ' ' ||
	    line_cols(line, text.len) > (size_t)l->cols)
		return false;
	l->gone += scrollback_push(&l->out, line);
	l->row++;
	return true;
}

static void add_row(struct layout *l, size_t i, struct span line, int old_cols)
{
	static const struct style plain;
	/* The last row cannot continue. */
	unsigned flags = i + 1 < l->old_rows ? line_flags(line) : 0;
	uint32_t bg;
	int col = 0, to = fill_start(line, flags, old_cols, &bg);
	int end = flags & LINE_PADDED ? old_cols - 1 : old_cols;
	struct line_reader r;
	struct line_cell c;

	if (copy_row(l, i, line))
		return;
	line_read(&r, line);
	while (col < MIN(end, to) && line_next(&r, &c)) {
		make_room(l, c.cols);
		place_points(l, i, col, c.cols);
		line_cell(&l->writer, c.text, c.len, c.cols, &c.style);
		l->x += c.cols;
		col += c.cols;
	}
	/* An encoded row lacks its blanks at the end; they count before the rest of the line, or
	 * the cursor. */
	if (!(flags & LINE_WRAPS))
		end = l->point[POINT_CURSOR].row == i ? MIN(end, l->point[POINT_CURSOR].col) : 0;
	for (; col < end; col++) {
		make_room(l, 1);
		place_points(l, i, col, 1);
		line_cell(&l->writer, " ", 1, 1, &plain);
		l->x++;
	}
	place_points(l, i, col, INT32_MAX);
	l->open = flags & LINE_WRAPS;
	if (to < old_cols)
		fill(l, bg);
	if (!l->open)
		end_row(l, 0);
}

static void lay_out(struct layout *l, const struct term *t, const struct kept *k)
{
	size_t old = t->history.count;

	l->writer = (struct line_writer)LINE_WRITER_INIT;
	scrollback_init(&l->out, REFLOW_LINES);
	scrollback_bound(&l->out, REFLOW_LINES, REFLOW_BYTES);
	line_begin(&l->writer);
	l->old_rows = old + k->rows.n;
	for (size_t i = 0; i < l->old_rows; i++)
		add_row(l, i,
			i < old ? scrollback_line(&t->history, i) : rows_line(&k->rows, i - old),
			k->cols);
	line_writer_done(&l->writer);
}

/* Returns the new row that becomes the first row of the screen. */
static size_t choose_top(const struct term *t, const struct layout *l, const struct kept *k,
			 int n_rows)
{
	size_t rows = (size_t)n_rows, top = l->point[POINT_TOP].new_row, room;
	size_t empty = (size_t)k->n_rows - k->rows.n, cursor = l->point[POINT_CURSOR].new_row;

	if (t->anchor.valid && l->row - l->point[POINT_ANCHOR].new_row <= rows) {
		top = l->point[POINT_ANCHOR].new_row;
		empty = t->anchor.empty;
	}
	if (l->row - top >= rows) {
		top = l->row - rows;
	} else {
		room = rows - (l->row - top);
		top -= MIN(top, room - MIN(room, empty));
	}
	return MAX(MIN(top, cursor), l->gone);
}

/* ---- rows onto the screen ---------------------------------------------------------------------
 */

/* Returns whether a joiner, skin tone or mark unknown to libvterm makes the cell one extra. */
static bool is_joined(struct term *t, const char *rest, size_t len)
{
	int32_t cp;

	for (size_t i = 0; i < len;) {
		i += text_decode(rest + i, len - i, &cp);
		if (cp == EXTRA_JOINER || EXTRA_TONE(cp) ||
		    (cp >= 0x80 && glyph_class(t->glyphs, cp) == GLYPH_ATTACH))
			return true;
	}
	return false;
}

static void paint_cell(struct term *t, const struct line_cell *c, int x)
{
	char cluster[CLUSTER_MAX + 1] = "";
	enum glyph_class class;
	int32_t cp;
	size_t n = text_decode(c->text, c->len, &cp), marks = c->len - n;

	if (marks && c->len <= CLUSTER_MAX && is_joined(t, c->text + n, marks)) {
		memcpy(cluster, c->text, c->len);
		marks = 0;
	}

	/* A character and its marks must reach libvterm in one piece. */
	if (sizeof(t->sieve.out) - t->sieve.out_len < 64)
		sieve_flush(t);
	class = cp < 0x80 ? GLYPH_NARROW : glyph_class(t->glyphs, cp);
	if (class == GLYPH_WIDER && x + 2 > t->cols) {
		sieve_emit(t, " ", 1);
		return;
	}
	sieve_glyph(t, class == GLYPH_ALIAS ? glyph_alias(cp) : cp,
		    pen_extra(t, &t->sieve.pen, cluster));
	sieve_emit(t, c->text + n, marks);
	if (class == GLYPH_WIDER)
		sieve_fmt(t, "\033[%dG", x + 2);
}

/* Paints the last column of a row that continues in the next row, with the mark of that. */
static void paint_mark(struct term *t, const struct line_cell *c, int x, unsigned flags)
{
	static const struct line_cell blank = {.text = " ", .len = 1, .cols = 1};
	struct style st = c ? c->style : (struct style){0};

	if (!c || flags & LINE_PADDED) {
		x = t->cols - 1;
		sieve_fmt(t, "\033[%dG", t->cols);
	}
	if (flags & LINE_PADDED)
		st = (struct style){.bg = st.bg};
	pen_of(&t->sieve.pen, &st);
	pen_emit(t);
	pen_font(t, flags & LINE_PADDED ? FONT_PAD : FONT_WRAP);
	paint_cell(t, c ? c : &blank, x);
	pen_font(t, 0);
}

static void paint_row(struct term *t, int y, struct span line)
{
	struct style now = {.attr = ~0u};
	unsigned flags = line_flags(line);
	struct line_reader r;
	struct line_cell c;
	int x = 0;

	sieve_fmt(t, "\033[%dH", y + 1);
	line_read(&r, line);
	for (; line_next(&r, &c) && x + c.cols <= t->cols; x += c.cols) {
		if (flags && x + c.cols == t->cols) {
			paint_mark(t, &c, x, flags);
			return;
		}
		if (memcmp(&now, &c.style, sizeof(now)) != 0) {
			pen_of(&t->sieve.pen, &c.style);
			pen_emit(t);
		}
		now = c.style;
		paint_cell(t, &c, x);
	}
	if (flags)
		paint_mark(t, NULL, x, flags);
}

static bool is_full(const struct term *t, const struct rows *rows, size_t row)
{
	struct span line = row < rows->n ? rows_line(rows, row) : (struct span){0};

	return line.len && line_cols(line, line_text(line).len) >= (size_t)t->cols;
}

/* Paints the rows, the cursor's last: if it is full, the next character wraps as before the
 * resize. */
static void paint(struct term *t, const struct rows *rows, VTermPos cursor)
{
	struct pen pen = t->sieve.pen;
	bool full;

	t->sieve.pen = (struct pen){0};
	pen_emit(t);
	sieve_emit(t, "\033[4l\033[2J", 8);
	for (size_t y = 0; y < rows->n; y++)
		if ((int)y != cursor.row && rows_line(rows, y).len > LINE_HEAD)
			paint_row(t, (int)y, rows_line(rows, y));
	if ((size_t)cursor.row < rows->n)
		paint_row(t, cursor.row, rows_line(rows, (size_t)cursor.row));
	full = cursor.col >= t->cols;
	if (!full)
		sieve_fmt(t, "\033[%d;%dH", cursor.row + 1, cursor.col + 1);
	else if (!is_full(t, rows, (size_t)cursor.row))
		sieve_fmt(t, "\033[%d;%dH ", cursor.row + 1, t->cols);
	if (t->sieve.insert)
		sieve_emit(t, "\033[4h", 4);
	t->sieve.pen = pen;
	pen_emit(t);
	sieve_flush(t);
	wrap_lost(t);
	if (full && !t->sieve.nowrap) {
		t->sieve.col = t->cols;
		t->sieve.full = true;
	}
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void set_size(struct term *t, int rows, int cols)
{
	t->cells = xrealloc(t->cells, (size_t)cols * sizeof(*t->cells));
	t->resizing = true;
	vterm_set_size(t->vt, rows, cols);
	t->resizing = false;
	t->rows = rows;
	t->cols = cols;
	sieve_emit(t, CLAMP_CURSOR, sizeof(CLAMP_CURSOR) - 1);
	sieve_flush(t);
	wrap_lost(t);
}

static void set_points(struct term *t, struct layout *l, const struct kept *k)
{
	size_t old = t->history.count;

	l->point[POINT_CURSOR] =
		(struct point){.row = old + (size_t)k->cursor.row, .col = k->cursor.col};
	l->point[POINT_TOP] = (struct point){.row = old};
	l->point[POINT_ANCHOR] = (struct point){.row = (size_t)(t->anchor.line - t->first_line),
						.col = t->anchor.col};
	if (!t->anchor.valid || t->anchor.line < t->first_line ||
	    l->point[POINT_ANCHOR].row >= old + k->rows.n) {
		t->anchor = (struct anchor){.empty = (size_t)k->n_rows - k->rows.n};
		l->point[POINT_ANCHOR] = l->point[POINT_TOP];
	}
	l->point[POINT_VIEW] = (struct point){.row = (size_t)(term_top(t) - t->first_line)};
}

/* Lays out a main screen k, which must be shown and have its new size. */
static void reflow(struct term *t, const struct kept *k, struct layout *l)
{
	AUTO_FREE struct rows *screen = xcalloc(1, sizeof(*screen));
	uint64_t base = t->first_line;
	size_t top;
	VTermPos cursor;

	l->cols = t->cols;
	lay_out(l, t, k);
	top = choose_top(t, l, k, t->rows);
	screen->bytes = (struct buf)BUF_INIT;
	for (size_t i = top; i < l->row && screen->n < (size_t)t->rows; i++)
		rows_add(screen, scrollback_line(&l->out, i - l->gone));
	for (size_t i = top; i < l->row; i++)
		scrollback_pop(&l->out);
	scrollback_bound(&l->out, TERM_SCROLLBACK_LINES, SCROLLBACK_BYTES);
	scrollback_done(&t->history);
	t->history = l->out;
	t->first_line = base + l->gone;
	t->view = base + l->point[POINT_VIEW].new_row;
	t->anchor = (struct anchor){.valid = true,
				    .line = base + l->point[POINT_ANCHOR].new_row,
				    .col = l->point[POINT_ANCHOR].new_col,
				    .empty = t->anchor.empty};
	t->search.found = false;
	t->copy.kind = COPY_NONE;
	t->copy.line = base + l->point[POINT_VIEW].new_row;
	t->copy.col = 0;
	cursor.row = (int)(l->point[POINT_CURSOR].new_row - top);
	cursor.col = l->point[POINT_CURSOR].new_col;
	paint(t, screen, cursor);
	buf_done(&screen->bytes);
}

void reflow_resize(struct term *t, int rows, int cols)
{
	CLEANUP(kept_cleanup) struct kept *k = NULL;
	struct layout l = {0};

	if (t->alt) {
		if (t->kept)
			t->kept->resized = true;
		set_size(t, rows, cols);
		return;
	}
	k = keep_screen(t);
	if (t->sieve.full)
		k->cursor.col = t->cols;
	set_points(t, &l, k);
	set_size(t, rows, cols);
	reflow(t, k, &l);
}

void reflow_keep(struct term *t)
{
	reflow_forget(t);
	t->kept = keep_screen(t);
}

void reflow_back(struct term *t, bool restored)
{
	CLEANUP(kept_cleanup) struct kept *k = t->kept;
	struct layout l = {0};
	VTermPos pos;

	t->kept = NULL;
	wrap_lost(t);
	if (!k || !k->resized)
		return;
	vterm_state_get_cursorpos(t->state, &pos);
	set_points(t, &l, k);
	reflow(t, k, &l);
	if (!restored) {
		sieve_fmt(t, "\033[%d;%dH", pos.row + 1, pos.col + 1);
		sieve_flush(t);
	}
}

void reflow_forget(struct term *t)
{
	kept_free(t->kept);
	t->kept = NULL;
}
