/* bulk - long runs of lines, which scroll through the screen too fast to be seen. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

/*
 * Theory of operation. libvterm moves the whole screen for every line that scrolls: 4 us at 80x24,
 * 25 us at 200x50. But of a run of lines only the last rows - 1 can still be seen at its end; all
 * others pass into the history. So, with the cursor on the last row and the whole screen scrolling:
 *
 *  1. walk over what is simple enough (printable text, colours, tabs, erasing in the line, "\r\n",
 *     and "\r" alone when the line is then written over or erased; lines may wrap), counting how
 *     often the screen would scroll;
 *  2. rows 0..rows-2, which would scroll off first, go into the history;
 *  3. so do the rows that are walked over a second time, up to the last rows - 1;
 *  4. those are fed as usual, from the left of an erased last row, and what they push off the
 *     screen, which step 2 has stored, is dropped.
 *
 * Screen, history, cursor and pen are then what they would have been: test_term_bulk.c compares
 * the two ways over random streams. Anything that is not simple ends the walk, and goes the long
 * way.
 */

#define BULK_MIN_COLS  8 /* avoids rows that one wide character fills */
#define BULK_MIN_BYTES 512

struct walk {
	struct term *t;
	const char *bytes;
	size_t len, at;
	struct sieve sgr; /* scratch for parameters; holds the pen */
	uint32_t fill;	  /* background of the rest of the row */
	int col;
	bool phantom; /* the row is full: the next character begins a row */
	int old;      /* after a "\r" the columns from col to here have older text */
	size_t cr_at; /* the "\r", to which the walk goes back if the row ends with older text */
	size_t breaks, limit;
	struct bulk_break *ring; /* the last `rows` breaks, or NULL */
	bool store;
};

static void fill_to(struct walk *w, int col)
{
	struct style erased = {.bg = w->fill};

	for (; w->store && w->col < col; w->col++)
		line_cell(&w->t->writer, " ", 1, 1, &erased);
	w->col = col;
}

/* Ends a row: the screen scrolls by one. flags: the ended row's. */
static void row_break(struct walk *w, unsigned flags)
{
	if (w->store) {
		w->t->writer.flags = flags;
		if (w->fill != COLOR_DEFAULT)
			fill_to(w, w->t->cols);
		term_push_line(w->t, line_end(&w->t->writer));
		line_begin(&w->t->writer);
	}
	if (w->ring) {
		struct bulk_break *b = &w->ring[w->breaks % (size_t)w->t->rows];

		b->at = w->at;
		b->pen = w->sgr.pen;
	}
	w->breaks++;
	w->fill = w->sgr.pen.bg;
	w->col = 0;
	w->phantom = false;
}

/* Returns whether the row can end. If older text remains in it, the walk goes back to its "\r":
 * that text is unknown. */
static bool may_end(struct walk *w)
{
	if (w->old > w->col) {
		w->at = w->cr_at;
		return false;
	}
	w->old = 0;
	return true;
}

static void go_back(struct walk *w)
{
	if (w->old <= w->col) {
		w->old = w->col;
		w->cr_at = w->at;
	}
	w->col = 0;
	w->phantom = false;
	if (w->store)
		line_begin(&w->t->writer);
	w->at++;
}

/* Erases the whole row, or the part right of the cursor. */
static void erase(struct walk *w, bool whole)
{
	int col = w->col;

	w->old = 0;
	w->fill = w->sgr.pen.bg;
	if (!whole)
		return;
	if (w->store)
		line_begin(&w->t->writer);
	w->col = 0;
	fill_to(w, col);
}

/* Makes room for a character of this width. Returns false if the walk's last break was made. */
static bool make_room(struct walk *w, int width)
{
	if (!w->phantom && w->col + width <= w->t->cols)
		return true;
	if (!may_end(w))
		return false;
	row_break(w, w->phantom ? LINE_WRAPS : LINE_WRAPS | LINE_PADDED);
	return w->breaks < w->limit;
}

static void advance(struct walk *w, int width)
{
	w->col += width;
	w->phantom = w->col >= w->t->cols;
}

static bool walk_ascii(struct walk *w)
{
	struct style st;
	size_t n = 0, room;

	if (!make_room(w, 1))
		return false;
	room = MIN((size_t)(w->t->cols - w->col), w->len - w->at);
	while (n < room && w->bytes[w->at + n] >= ' ' && w->bytes[w->at + n] < 0x7f)
		n++;
	if (w->store) {
		st = pen_style(&w->sgr.pen);
		line_ascii(&w->t->writer, w->bytes + w->at, n, &st);
	}
	w->at += n;
	advance(w, (int)n);
	return true;
}

/* Returns the length of one complete code point in shortest form, or 0. */
static size_t decode(const char *s, size_t len, int32_t *ret)
{
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = (unsigned char)*s;
	size_t need = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
	int32_t cp = lead & (0x7f >> need);

	if (!need || need > len)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	*ret = cp;
	return cp < least[need] ? 0 : need;
}

static bool walk_utf8(struct walk *w)
{
	struct style st;
	char text[4];
	int32_t cp;
	size_t n = decode(w->bytes + w->at, w->len - w->at, &cp);
	int width = 1;

	if (!n)
		return false;
	switch (glyph_class(w->t->glyphs, cp)) {
	case GLYPH_DROP:
		if (cp == EXTRA_JOINER)
			return false;
		w->at += n;
		return true;
	case GLYPH_REPLACE:
		cp = 0xfffd;
		break;
	case GLYPH_NARROW:
		break;
	case GLYPH_WIDE:
	case GLYPH_ALIAS:
		width = 2;
		break;
	case GLYPH_UNKNOWN:
	case GLYPH_WIDER:
	case GLYPH_MARK:
	case GLYPH_ATTACH:
		return false;
	}
	if (EXTRA_TONE(cp) || !make_room(w, width))
		return false;
	if (w->store) {
		st = pen_style(&w->sgr.pen);
		line_cell(&w->t->writer, text, glyph_utf8(cp, text), width, &st);
	}
	w->at += n;
	advance(w, width);
	return true;
}

/* Handles SGR, and EL to the end of the row. */
static bool walk_sequence(struct walk *w)
{
	struct sieve *s = &w->sgr;
	size_t i = w->at + 2;

	if (w->len - w->at < 3 || w->bytes[w->at + 1] != '[')
		return false;
	s->nargs = 0;
	s->arg_open = false;
	while (i < w->len && w->bytes[i] >= '0' && w->bytes[i] <= ';')
		sieve_arg(s, (unsigned char)w->bytes[i++]);
	if (i == w->len || s->nargs > SIEVE_ARGS)
		return false;
	if (w->bytes[i] == 'm')
		pen_apply(s);
	else if (w->bytes[i] == 'K' && !w->phantom &&
		 (!s->nargs || (s->nargs == 1 && s->arg[0] != 1 && s->arg[0] <= 2)))
		erase(w, s->nargs && s->arg[0] == 2);
	else
		return false;
	w->at = i + 1;
	return !s->pen.conceal;
}

static bool walk_control(struct walk *w)
{
	char c = w->bytes[w->at];

	if (c == '\033')
		return walk_sequence(w);
	if (c == '\t' && !w->phantom && w->old <= w->col) {
		fill_to(w, MIN((w->col / 8 + 1) * 8, w->t->cols - 1));
		w->at++;
		return true;
	}
	if (c != '\r' || w->len - w->at < 2)
		return false;
	if (w->bytes[w->at + 1] != '\n') {
		go_back(w);
		return true;
	}
	if (!may_end(w))
		return false;
	w->at += 2;
	row_break(w, 0);
	return w->breaks < w->limit;
}

static void walk(struct walk *w)
{
	bool more = !w->sgr.pen.conceal;

	while (more && w->at < w->len) {
		unsigned char c = (unsigned char)w->bytes[w->at];

		if (c >= 0x80)
			more = walk_utf8(w);
		else if (c >= ' ' && c < 0x7f)
			more = walk_ascii(w);
		else
			more = walk_control(w);
	}
}

/* Begins the first line with the text of the last row, left of the cursor. Returns false unless the
 * row has only an erased background right of the cursor. */
static bool take_prefix(struct walk *w, struct span row)
{
	struct line_writer *out = &w->t->writer;
	struct line_reader r;
	struct line_cell c;
	int col = 0;

	w->fill = COLOR_DEFAULT;
	line_read(&r, row);
	if (w->store)
		line_begin(out);
	while (line_next(&r, &c)) {
		if (col < w->col) {
			if (col + c.cols > w->col)
				return false;
			if (w->store)
				line_cell(out, c.text, c.len, c.cols, &c.style);
		} else {
			if (col == w->col)
				w->fill = c.style.bg;
			if (*c.text != ' ' || c.style.fg || c.style.attr || c.style.bg != w->fill)
				return false;
		}
		col += c.cols;
	}
	if (col > w->col && col < w->t->cols && w->fill != COLOR_DEFAULT)
		return false;
	for (; w->store && col < w->col; col++)
		line_cell(out, " ", 1, 1, &(struct style){0});
	return true;
}

/* Returns the number of bytes up to and with the n-th line feed, or len. */
static size_t through_lines(const char *bytes, size_t len, size_t n)
{
	size_t at = 0;

	while (n-- && at < len) {
		const char *nl = memchr(bytes + at, '\n', len - at);

		at = nl ? (size_t)(nl - bytes) + 1 : len;
	}
	return at;
}

static void run(struct walk *w, struct span prefix, const struct bulk_break *tail, size_t end)
{
	struct term *t = w->t;
	size_t rows = (size_t)t->rows;

	for (int row = 0; row + 1 < t->rows; row++)
		term_push_line(t, term_row(t, row));
	take_prefix(w, prefix);
	walk(w);

	t->sieve.pen = tail->pen;
	sieve_emit(t, "\r", 1);
	pen_emit(t);
	sieve_emit(t, "\033[2K", 4);
	t->sieve.col = 0;
	t->sieve.full = false;
	t->drop_push = rows - 1;
	sieve_feed(t, w->bytes + tail->at, end - tail->at, INT64_MAX);
	t->drop_push = 0;
}

size_t bulk_feed(struct term *t, const char *bytes, size_t len, size_t *ret_slow)
{
	AUTO_BUF struct buf prefix = BUF_INIT;
	struct walk w = {.t = t, .bytes = bytes, .len = len, .limit = SIZE_MAX};
	size_t rows = (size_t)t->rows, breaks, end;
	struct bulk_break tail;
	struct span row;
	VTermPos pos;

	*ret_slow = 0;
	if (!sieve_plain(t) || t->cols < BULK_MIN_COLS || len < BULK_MIN_BYTES)
		return 0;
	vterm_state_get_cursorpos(t->state, &pos);
	*ret_slow = through_lines(bytes, len, MAX(rows - (size_t)pos.row, (size_t)2) - 1);
	/* In the last column libvterm does not report whether the row is full. */
	if (pos.row + 1 != t->rows || pos.col + 2 >= t->cols)
		return 0;
	row = term_row(t, pos.row);
	buf_add(&prefix, row.data, row.len);
	row = (struct span){.data = prefix.data, .len = prefix.len};
	w.col = pos.col;
	w.sgr.pen = t->sieve.pen;
	if (line_flags(row) || !take_prefix(&w, row))
		return 0;
	t->breaks = xrealloc(t->breaks, rows * sizeof(*t->breaks));
	w.ring = t->breaks;
	walk(&w);
	*ret_slow = w.at;
	end = w.at;
	breaks = w.breaks;
	if (breaks < 2 * rows)
		return 0;

	tail = t->breaks[(breaks - rows) % rows];
	w = (struct walk){.t = t, .bytes = bytes, .len = len, .col = pos.col, .store = true};
	w.limit = breaks - rows + 1;
	w.sgr.pen = t->sieve.pen;
	run(&w, row, &tail, end);
	return end;
}
