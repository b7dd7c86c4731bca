/* copy_mode - a cursor of its own in scrollback and screen, and the selection. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

/* Places are an absolute number of a row of history or screen, and a column. Rows of one wrapped
 * line have no line end between them in a selection's text. */

static uint64_t clamp_line(struct term *t, uint64_t line)
{
	return MIN(MAX(line, t->first_line), term_end(t) - 1);
}

/* Scrolls the view to the cursor. */
static void show_cursor(struct term *t)
{
	uint64_t top = term_top(t), line = t->copy.line;

	if (line < top)
		t->view = line;
	else if (line >= top + (uint64_t)t->rows)
		t->view = line - (uint64_t)t->rows + 1;
	else
		t->view = top;
	t->follow = false;
	t->dirty = true;
}

static void put_cursor(struct term *t, uint64_t line, int col)
{
	t->copy.line = clamp_line(t, line);
	t->copy.col = MIN(MAX(col, 0), t->cols - 1);
	show_cursor(t);
}

void term_copy(struct term *t, bool on)
{
	VTermPos pos;

	if (on == t->copy.on)
		return;
	t->copy = (struct copy){.on = on};
	t->dirty = true;
	if (!on) {
		term_scroll_end(t);
		return;
	}
	vterm_state_get_cursorpos(t->state, &pos);
	put_cursor(t, term_top(t) + (uint64_t)pos.row, pos.col);
}

bool term_copying(const struct term *t)
{
	return t->copy.on;
}

bool term_copy_cursor(struct term *t, int *row, int *col)
{
	uint64_t line = clamp_line(t, t->copy.line), top = term_top(t);

	*row = (int)(line - top);
	*col = t->copy.col;
	return t->copy.on && line >= top && line < top + (uint64_t)t->rows;
}

void term_copy_at(struct term *t, int row, int col)
{
	put_cursor(t, term_top(t) + (uint64_t)MIN(MAX(row, 0), t->rows - 1), col);
}

void term_copy_match(struct term *t)
{
	struct span line;

	if (!t->copy.on || !t->search.found)
		return;
	line = term_line(t, t->search.line);
	put_cursor(t, t->search.line, (int)line_cols(line, t->search.at));
}

/* ---- moving -----------------------------------------------------------------------------------
 */

enum char_class {
	CHAR_BLANK,
	CHAR_WORD,
	CHAR_SIGN,
};

/* Writes the class of each column of a row; columns behind its text are blank. Returns the columns
 * of the text. */
static int classes(struct term *t, uint64_t line, uint8_t out[TERM_MAX])
{
	struct line_reader r;
	struct line_cell c;
	int x = 0;

	memset(out, CHAR_BLANK, TERM_MAX);
	line_read(&r, term_line(t, line));
	while (line_next(&r, &c) && x + c.cols <= TERM_MAX) {
		unsigned char ch = (unsigned char)*c.text;
		bool word = ch >= 0x80 || ch == '_' || (ch >= '0' && ch <= '9') ||
			    ((ch | 0x20) >= 'a' && (ch | 0x20) <= 'z');

		memset(out + x,
		       ch == ' ' ? CHAR_BLANK
		       : word	 ? CHAR_WORD
				 : CHAR_SIGN,
		       (size_t)c.cols);
		x += c.cols;
	}
	return x;
}

struct walker {
	struct term *t;
	uint64_t line;
	int col, len;
	uint8_t class[TERM_MAX];
};

static void walk_to(struct walker *w, uint64_t line)
{
	w->line = line;
	w->len = classes(w->t, line, w->class);
}

static int class_at(const struct walker *w)
{
	return w->col < w->len ? w->class[w->col] : CHAR_BLANK;
}

/* Moves a column on, into the next row; false at the end. A new line counts as a blank between
 * words. */
static bool forward(struct walker *w)
{
	if (w->col + 1 < w->len) {
		w->col++;
		return true;
	}
	if (w->line + 1 >= term_end(w->t))
		return false;
	w->col = 0;
	walk_to(w, w->line + 1);
	return true;
}

static bool backward(struct walker *w)
{
	if (w->col > 0) {
		w->col--;
		return true;
	}
	if (w->line <= w->t->first_line)
		return false;
	walk_to(w, w->line - 1);
	w->col = MAX(w->len - 1, 0);
	return true;
}

static void next_word(struct walker *w)
{
	int class = class_at(w);
	uint64_t line = w->line;

	while (class != CHAR_BLANK && class_at(w) == class && w->line == line)
		if (!forward(w))
			return;
	while (class_at(w) == CHAR_BLANK)
		if (!forward(w))
			return;
}

static void end_of_word(struct walker *w)
{
	int class;

	if (!forward(w))
		return;
	while (class_at(w) == CHAR_BLANK)
		if (!forward(w))
			return;
	class = class_at(w);
	while (w->col + 1 < w->len && w->class[w->col + 1] == class)
		w->col++;
}

static void previous_word(struct walker *w)
{
	int class;

	if (!backward(w))
		return;
	while (class_at(w) == CHAR_BLANK)
		if (!backward(w))
			return;
	class = class_at(w);
	while (w->col > 0 && w->class[w->col - 1] == class)
		w->col--;
}

static void by_word(struct term *t, enum copy_move move)
{
	struct walker w = {.t = t, .col = t->copy.col};

	walk_to(&w, clamp_line(t, t->copy.line));
	if (move == COPY_WORD_NEXT)
		next_word(&w);
	else if (move == COPY_WORD_END)
		end_of_word(&w);
	else
		previous_word(&w);
	put_cursor(t, w.line, w.col);
}

static void within_line(struct term *t, enum copy_move move)
{
	uint8_t class[TERM_MAX];
	int len = classes(t, clamp_line(t, t->copy.line), class), col = 0;

	if (move == COPY_LINE_END)
		col = MAX(len - 1, 0);
	else if (move == COPY_LINE_TEXT)
		while (col + 1 < len && class[col] == CHAR_BLANK)
			col++;
	put_cursor(t, t->copy.line, col);
}

void term_copy_move(struct term *t, enum copy_move move, long n)
{
	uint64_t line = clamp_line(t, t->copy.line);
	uint64_t up = MIN((uint64_t)MAX(n, 0), line - t->first_line);

	switch (move) {
	case COPY_UP:
		put_cursor(t, line - up, t->copy.col);
		break;
	case COPY_DOWN:
		put_cursor(t, line + (uint64_t)MAX(n, 0), t->copy.col);
		break;
	case COPY_LEFT:
		put_cursor(t, line, t->copy.col - 1);
		break;
	case COPY_RIGHT:
		put_cursor(t, line, t->copy.col + 1);
		break;
	case COPY_TOP:
		put_cursor(t, t->first_line, 0);
		break;
	case COPY_BOTTOM:
		put_cursor(t, term_end(t) - 1, 0);
		break;
	case COPY_LINE_START:
	case COPY_LINE_TEXT:
	case COPY_LINE_END:
		within_line(t, move);
		break;
	case COPY_WORD_NEXT:
	case COPY_WORD_END:
	case COPY_WORD_PREV:
		by_word(t, move);
		break;
	}
}

/* ---- selecting --------------------------------------------------------------------------------
 */

void term_copy_select(struct term *t, enum copy_kind kind)
{
	struct copy *c = &t->copy;

	t->dirty = true;
	if (c->kind != COPY_NONE && (c->kind == kind || kind == COPY_NONE)) {
		c->kind = COPY_NONE;
		return;
	}
	if (c->kind == COPY_NONE) {
		c->from_line = clamp_line(t, c->line);
		c->from_col = c->col;
	}
	c->kind = kind;
}

enum copy_kind term_copy_kind(const struct term *t)
{
	return t->copy.kind;
}

/* Widens the selection to the whole lines at both ends. */
static void whole_lines(struct term *t, uint64_t *from, uint64_t *to)
{
	while (*from > t->first_line && line_flags(term_line(t, *from - 1)) & LINE_WRAPS)
		--*from;
	while (*to + 1 < term_end(t) && line_flags(term_line(t, *to)) & LINE_WRAPS)
		++*to;
}

/* Returns whether the row has selected columns, and the first and last of them. */
bool copy_range(struct term *t, uint64_t line, int *from, int *to)
{
	const struct copy *c = &t->copy;
	uint64_t a = MAX(MIN(c->from_line, c->line), t->first_line), b = MAX(c->from_line, c->line);
	bool down = c->from_line < c->line || (c->from_line == c->line && c->from_col <= c->col);

	*from = 0;
	*to = t->cols - 1;
	if (!c->on || c->kind == COPY_NONE)
		return false;
	/* The selected lines may have left the history. */
	if (b < t->first_line || a >= term_end(t))
		return false;
	b = MIN(b, term_end(t) - 1);
	if (c->kind == COPY_LINES)
		whole_lines(t, &a, &b);
	if (line < a || line > b)
		return false;
	if (c->kind == COPY_BLOCK) {
		*from = MIN(c->from_col, c->col);
		*to = MAX(c->from_col, c->col);
	} else if (c->kind == COPY_CHARS) {
		if (line == a)
			*from = down ? c->from_col : c->col;
		if (line == b)
			*to = down ? c->col : c->from_col;
	}
	return true;
}

/* Appends the text of these columns, without blanks at the end unless the line continues. */
static void add_row(struct term *t, uint64_t line, int from, int to, struct buf *out)
{
	struct span encoded = term_line(t, line);
	unsigned flags = t->copy.kind == COPY_BLOCK ? 0 : line_flags(encoded);
	size_t keep = out->len;
	struct line_reader r;
	struct line_cell c;
	int x = 0;

	line_read(&r, encoded);
	for (; line_next(&r, &c) && x <= to; x += c.cols) {
		if (x + c.cols - 1 < from)
			continue;
		if (flags & LINE_PADDED && x + 1 == t->cols)
			break;
		buf_add(out, c.text, c.len);
		if (*c.text != ' ')
			keep = out->len;
	}
	if (!flags || to + 1 < t->cols) {
		buf_truncate(out, keep);
		buf_ch(out, '\n');
		return;
	}
	for (x = MAX(x, from); !(flags & LINE_PADDED) && x < t->cols; x++)
		buf_ch(out, ' ');
}

bool term_copy_text(struct term *t, struct buf *out)
{
	uint64_t from, to;
	int a, b;

	if (!t->copy.on || t->copy.kind == COPY_NONE)
		return false;
	from = clamp_line(t, MIN(t->copy.from_line, t->copy.line));
	to = clamp_line(t, MAX(t->copy.from_line, t->copy.line));
	if (t->copy.kind == COPY_LINES)
		whole_lines(t, &from, &to);
	for (uint64_t line = from; line <= to && out->len < COPY_MAX; line++)
		if (copy_range(t, line, &a, &b))
			add_row(t, line, a, b, out);
	/* Only a selection of whole lines ends with a line end. */
	if (t->copy.kind != COPY_LINES && out->len && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
	return true;
}

const char *term_link(const struct term *t, uint32_t link)
{
	return extras_url(&t->extras, link);
}

const char *term_copy_link(struct term *t)
{
	struct line_reader reader;
	struct line_cell c;
	int x = 0;

	if (!t->copy.on)
		return NULL;
	line_read(&reader, term_line(t, clamp_line(t, t->copy.line)));
	while (line_next(&reader, &c)) {
		x += c.cols;
		if (x > t->copy.col)
			return extras_url(&t->extras, c.style.link);
	}
	return NULL;
}
