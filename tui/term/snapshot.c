/* snapshot - saves a terminal as bytes, and makes an equal terminal from them. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/snapshot.h"

#include <string.h>

#include "core/base/text.h"
#include "tui/term/inside.h"

/*
 * A snapshot is a list of commands, a line each: "S rows cols" (first: a new terminal), "R rows
 * cols" (resize), "F n" followed by n bytes to feed, and "L n": the character that REP repeats.
 * The main screen cannot be read while the alternate one is shown: its commands are kept when a
 * program switches, and later sizes are added. No snapshot is made in a state that libvterm does
 * not report (scroll margins, tab stops, a pending wrap): the caller tries again later. Addresses
 * of links are included up to LINK_BYTES; secrets in them are starred out as well.
 */

#define SNAPSHOT_MAX ((size_t)16 << 20)
#define UNDER_SIZES  64
#define HISTORY	     200		 /* lines of the history in a snapshot */
#define LINK_BYTES   ((size_t)256 << 10) /* bytes of addresses: each cell may have one */

struct under {
	struct buf screen; /* commands: size and contents of the main screen */
	unsigned sizes;
};

/* ---- one screen -------------------------------------------------------------------------------
 */

static void put_style(struct buf *out, const struct style *st)
{
	buf_fmt(out, "\033[0%s%s%s%s%s%s", st->attr & STYLE_BOLD ? ";1" : "",
		st->attr & STYLE_DIM ? ";2" : "", st->attr & STYLE_ITALIC ? ";3" : "",
		st->attr & STYLE_UNDERLINE ? ";4" : "", st->attr & STYLE_REVERSE ? ";7" : "",
		st->attr & STYLE_STRIKE ? ";9" : "");
	if (st->attr & STYLE_BLINK)
		buf_str(out, ";5");
	if (STYLE_UNDERLINE_OF(st->attr))
		buf_fmt(out, ";4:%u", STYLE_UNDERLINE_OF(st->attr) + 1);
	for (int bg = 0; bg < 2; bg++) {
		uint32_t c = bg ? st->bg : st->fg;

		if (COLOR_IS_INDEX(c))
			buf_fmt(out, ";%d;5;%u", bg ? 48 : 38, (unsigned)(c & 0xff));
		else if (COLOR_IS_RGB(c))
			buf_fmt(out, ";%d;2;%u;%u;%u", bg ? 48 : 38, (unsigned)(c >> 16 & 0xff),
				(unsigned)(c >> 8 & 0xff), (unsigned)(c & 0xff));
	}
	buf_ch(out, 'm');
	if (COLOR_IS_INDEX(st->line))
		buf_fmt(out, "\033[58:5:%um", (unsigned)(st->line & 0xff));
	else if (COLOR_IS_RGB(st->line))
		buf_fmt(out, "\033[58:2::%u:%u:%um", (unsigned)(st->line >> 16 & 0xff),
			(unsigned)(st->line >> 8 & 0xff), (unsigned)(st->line & 0xff));
}

/* Begins a link to this address; 0 ends it. */
static void put_link(struct term *t, struct buf *out, uint32_t link, size_t *room)
{
	const char *url = term_link(t, link);
	AUTO_FREE char *safe = url ? xstrdup(url) : NULL;
	size_t len = safe ? strlen(safe) : 0;

	if (len > *room)
		len = 0;
	*room -= len;
	if (len && t->filter)
		t->filter->redact(t->filter->data, safe, len);
	buf_fmt(out, "\033]8;;%s\033\\", len ? safe : "");
}

/* Pads the last column, whose background is st's: a wide character does not fit there. */
static void put_pad(struct buf *out, const struct style *st)
{
	struct style bg = {.bg = st ? st->bg : COLOR_DEFAULT};

	put_style(out, &bg);
	buf_str(out, "\033[K\033[0m\xe4\xb8\xad\r");
}

/* Wraps a full row into a row without a background, and erases what made it wrap. */
#define WRAP "\033[0m \r"
#define REST WRAP "\033[K"

static void put_pen(struct term *t, struct buf *out, const struct pen *p)
{
	struct style st = pen_style(p);
	size_t room = LINK_BYTES;

	put_link(t, out, st.link, &room);

	put_style(out, &st);
	if (p->conceal)
		buf_str(out, "\033[8m");
}

/* Returns line i of the newest `old` lines of the history followed by the screen. */
static struct span line_at(struct term *t, size_t old, size_t i)
{
	if (i < old)
		return scrollback_line(&t->history, t->history.count - old + i);
	return term_row(t, (int)(i - old));
}

/* Lines in one text, so that a secret that continues in the next line is found. */
struct lines {
	struct term *t;
	size_t room; /* bytes left for addresses of links */
	size_t old;  /* lines of the history, before the screen's */
	struct buf text;
	size_t *at; /* offset of each line */
	int cols;   /* columns of the widest line */
};

static void lines_done(struct lines *l)
{
	buf_done(&l->text);
	free(l->at);
}

static void lines_read(struct term *t, struct lines *l)
{
	size_t n;

	l->t = t;
	l->room = LINK_BYTES;
	l->old = t->alt ? 0 : MIN(t->history.count, (size_t)HISTORY);
	n = l->old + (size_t)t->rows;
	l->text = (struct buf)BUF_INIT;
	l->at = xcalloc(n, sizeof(*l->at));
	l->cols = t->cols;
	for (size_t i = 0; i < n; i++) {
		struct span line = line_at(t, l->old, i), words = line_text(line);
		size_t cols = line_cols(line, words.len);

		l->at[i] = l->text.len;
		l->cols = MAX(l->cols, (int)MIN(cols, (size_t)TERM_MAX));
		buf_add(&l->text, words.data, words.len);
		if (cols < (size_t)t->cols)
			buf_ch(&l->text, '\n');
	}
	if (t->filter)
		t->filter->redact(t->filter->data, l->text.data, l->text.len);
}

/* Prints as much of line i as fits, with secrets starred out. Returns whether the next line must
 * follow at once, because it continues this one. */
static bool put_line(struct lines *l, struct buf *out, size_t i, int cols, bool last)
{
	struct span line = line_at(l->t, l->old, i), text = line_text(line);
	const char *shown = l->text.data + l->at[i];
	struct style now = {.attr = ~0u};
	unsigned flags = line_flags(line);
	struct line_reader reader;
	struct line_cell c;
	bool more;
	int x = 0;

	if (last || memcmp(text.data, shown, text.len) != 0)
		flags = 0;
	line_read(&reader, line);
	buf_fmt(out, "\033[?7%c", flags ? 'h' : 'l');
	for (; (more = line_next(&reader, &c)) && x + c.cols <= cols; x += c.cols) {
		if (flags & LINE_PADDED && x + 1 == cols)
			break;
		if (now.link != c.style.link)
			put_link(l->t, out, c.style.link, &l->room);
		if (memcmp(&now, &c.style, sizeof(now)) != 0)
			put_style(out, &c.style);
		now = c.style;
		buf_add(out, shown + (c.text - text.data), c.len);
	}
	if (now.link)
		put_link(l->t, out, 0, &l->room);
	if (flags && x < cols)
		buf_str(out, "\033[0m");
	for (; flags && x + !!(flags & LINE_PADDED) < cols; x++)
		buf_ch(out, ' ');
	if (flags & LINE_PADDED)
		put_pad(out, more ? &c.style : NULL);
	return flags;
}

/* Pushes the lines out at the top: a pane that grows takes them back. */
static void put_history(struct term *t, struct lines *l, struct buf *out)
{
	bool rest = false;

	put_link(t, out, 0, &l->room);
	for (size_t i = 0; i < l->old; i++) {
		rest = put_line(l, out, i, l->cols, false);
		buf_str(out, rest ? REST : "\033[0m\r\n");
	}
	buf_fmt(out, "\033[%dH", t->rows);
	for (size_t i = 0; i < MIN(l->old, (size_t)t->rows - 1); i++)
		buf_ch(out, '\n');
	buf_str(out, "\033[H");
}

/* Marks the last row as one that continues below, as it may after a change of margins. Nothing
 * scrolls outside margins: the cursor wraps onto the row's own beginning, which is painted
 * again. */
static void put_last_wrap(struct term *t, struct lines *l, struct buf *out)
{
	size_t i = l->old + (size_t)t->rows - 1;
	struct span line = line_at(t, l->old, i);
	struct line_reader reader;
	struct line_cell c;

	if (t->rows < 3)
		return;
	buf_fmt(out, "\033[1;%dr\033[%d;1H", t->rows - 1, t->rows);
	put_line(l, out, i, t->cols, false);
	buf_fmt(out, WRAP "\033[r\033[?7l\033[%d;1H", t->rows);
	line_read(&reader, line);
	for (int x = 0; x < 2 && line_next(&reader, &c); x += c.cols) {
		put_link(t, out, c.style.link, &l->room);
		put_style(out, &c.style);
		buf_add(out, c.text, c.len);
	}
	put_link(t, out, 0, &l->room);
}

static void put_screen(struct term *t, struct lines *l, struct buf *out)
{
	struct span last;

	bool rest = false;

	put_link(t, out, 0, &l->room);
	/* Erased in this way, the screen's first row can still continue the history's last line. */
	buf_fmt(out, "\033[0m\033[%d;%dH\033[1J\033[H", t->rows, t->cols);
	for (int row = 0; row < t->rows; row++) {
		size_t i = l->old + (size_t)row;

		if (rest)
			buf_str(out, REST);
		else
			buf_fmt(out, "\033[%d;1H", row + 1);
		/* The last row cannot continue. */
		rest = put_line(l, out, i, t->cols, row + 1 == t->rows);
	}
	last = line_at(t, l->old, l->old + (size_t)t->rows - 1);
	if (line_flags(last) &&
	    !memcmp(line_text(last).data, l->text.data + l->at[l->old + (size_t)t->rows - 1],
		    line_text(last).len))
		put_last_wrap(t, l, out);
	buf_str(out, "\033[?7h\033[0m\033[H");
}

static void put_feed(struct buf *out, const struct buf *bytes)
{
	buf_fmt(out, "F %zu\n", bytes->len);
	buf_add(out, bytes->data, bytes->len);
}

/* Makes a new terminal with this history, which may be wider than the screen. */
static void put_new(struct term *t, struct lines *l, struct buf *out)
{
	AUTO_BUF struct buf history = BUF_INIT;

	put_history(t, l, &history);
	buf_fmt(out, "S %d %d\n", t->rows, l->cols);
	put_feed(out, &history);
	buf_fmt(out, "R %d %d\n", t->rows, t->cols);
}

/* ---- what lies under the alternate screen -------------------------------------------------------
 */

void term_snapshots(struct term *t, const struct snapshot_filter *filter)
{
	t->filter = filter;
	if (!t->under) {
		t->under = xcalloc(1, sizeof(*t->under));
		t->under->screen = (struct buf)BUF_INIT;
	}
	buf_done(&t->under->screen);
	snapshot_saves_cursor(t);
}

void snapshot_done(struct term *t)
{
	if (!t->under)
		return;
	buf_done(&t->under->screen);
	free(t->under);
	t->under = NULL;
}

void snapshot_leaves_main(struct term *t)
{
	CLEANUP(lines_done) struct lines l = {.text = BUF_INIT};
	AUTO_BUF struct buf screen = BUF_INIT;
	VTermPos pos;

	if (!t->under || t->alt)
		return;
	buf_clear(&t->under->screen);
	t->under->sizes = 0;
	lines_read(t, &l);
	put_new(t, &l, &t->under->screen);
	put_screen(t, &l, &screen);
	vterm_state_get_cursorpos(t->state, &pos);
	buf_fmt(&screen, "\033[%d;%dH", pos.row + 1, pos.col + 1);
	put_feed(&t->under->screen, &screen);
	buf_str(&t->under->screen, "F 8\n\033[?1047h");
}

/* Records a resize, and the pen: new cells of both screens take its background. */
void snapshot_resized(struct term *t)
{
	AUTO_BUF struct buf pen = BUF_INIT;
	struct under *u = t->under;

	if (!u || !t->alt || u->sizes++ >= UNDER_SIZES)
		return;
	put_pen(t, &pen, &t->sieve.pen);
	put_feed(&u->screen, &pen);
	buf_fmt(&u->screen, "R %d %d\n", t->rows, t->cols);
}

void snapshot_saves_cursor(struct term *t)
{
	VTermPos pos;

	if (!t->under)
		return;
	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &pos);
	t->saved_row = pos.row;
	t->saved_col = pos.col;
	t->saved_visible = t->cursor_visible;
	t->saved_shape = t->cursor_shape;
}

/* ---- the whole ----------------------------------------------------------------------------------
 */

static void put_cursor(struct buf *out, int row, int col, bool visible, int shape)
{
	static const int styles[] = {[VTERM_PROP_CURSORSHAPE_BLOCK] = 2,
				     [VTERM_PROP_CURSORSHAPE_UNDERLINE] = 4,
				     [VTERM_PROP_CURSORSHAPE_BAR_LEFT] = 6};

	buf_fmt(out, "\033[%d;%dH\033[?25%c", row + 1, col + 1, visible ? 'h' : 'l');
	if (shape > 0 && shape < (int)ARRAY_LEN(styles))
		buf_fmt(out, "\033[%d q", styles[shape]);
}

static void put_charset(struct buf *out, const struct charset *c)
{
	buf_fmt(out, "\033(%c\033)%c%c", c->graphics[0] ? '0' : 'B', c->graphics[1] ? '0' : 'B',
		c->shifted ? 14 : 15);
}

static void put_state(struct term *t, struct buf *out)
{
	const struct sieve *s = &t->sieve;
	AUTO_BUF struct buf title = BUF_INIT;
	VTermPos pos;

	put_pen(t, out, &s->saved_pen);
	put_charset(out, &s->saved_charset);
	/* A resize may have left the saved cursor outside. */
	put_cursor(out, MIN(t->saved_row, t->rows - 1), MIN(t->saved_col, t->cols - 1),
		   t->saved_visible, t->saved_shape);
	buf_str(out, "\0337");
	put_pen(t, out, &s->pen);
	put_charset(out, &s->charset);
	vterm_state_get_cursorpos(t->state, &pos);
	if (*t->title) {
		buf_str(&title, t->title);
		if (t->filter)
			t->filter->redact(t->filter->data, title.data, title.len);
		buf_fmt(out, "\033]2;%s\a", title.data);
	}
	buf_fmt(out, "\033[?5%c\033[4%c\033[?7%c", t->reverse ? 'h' : 'l', s->insert ? 'h' : 'l',
		s->nowrap ? 'l' : 'h');
	put_cursor(out, pos.row, pos.col, t->cursor_visible, t->cursor_shape);
}

/* Returns whether the next character may wrap: the cursor may be on the last character, or that may
 * be erased. */
static bool may_wrap(const struct term *t)
{
	VTermPos pos;

	vterm_state_get_cursorpos(t->state, &pos);
	return t->sieve.full || pos.col + 1 >= t->cols || (pos.col + 2 == t->cols && t->sieve.wide);
}

/* Returns whether libvterm reports the whole state, and a snapshot can hold it. */
static bool is_simple(struct term *t)
{
	const struct sieve *s = &t->sieve;

	sieve_flush(t);
	return t->under && s->state == SIEVE_GROUND && !s->utf8_len && !s->marks && !s->extra &&
	       !s->joins && !s->region && !s->origin && !s->tabs && !s->newline && !t->held_until &&
	       !may_wrap(t) && (!t->alt || (t->under->screen.len && t->under->sizes < UNDER_SIZES));
}

bool term_snapshot(struct term *t, struct buf *key, struct buf *screen)
{
	CLEANUP(lines_done) struct lines l = {.text = BUF_INIT};
	AUTO_BUF struct buf bytes = BUF_INIT;

	if (!is_simple(t))
		return false;
	lines_read(t, &l);
	if (t->alt)
		buf_add(key, t->under->screen.data, t->under->screen.len);
	else
		put_new(t, &l, key);
	put_screen(t, &l, &bytes);
	put_state(t, &bytes);
	put_feed(key, &bytes);
	buf_fmt(key, "L %d\n", (int)t->sieve.last);
	if (t->alt)
		buf_str(screen, "\033[?1047h");
	buf_add(screen, bytes.data, bytes.len);
	return true;
}

/* ---- and back -------------------------------------------------------------------------------- */

static bool read_number(const char **p, const char *end, size_t *ret)
{
	size_t v = 0;
	const char *from = *p;

	for (; *p < end && **p >= '0' && **p <= '9' && v < SNAPSHOT_MAX; (*p)++)
		v = v * 10 + (size_t)(**p - '0');
	*ret = v;
	return *p > from && *p < end && (**p == ' ' || **p == '\n') && v <= SNAPSHOT_MAX;
}

static bool apply_command(struct term **t, const char **p, const char *end,
			  const struct term_events *on, void *data)
{
	char what = **p;
	size_t a, b = 0;

	*p += 2;
	if (*p >= end || !read_number(p, end, &a))
		return false;
	if ((what == 'S' || what == 'R') && (*(*p)++ != ' ' || !read_number(p, end, &b)))
		return false;
	(*p)++;
	if (what == 'S' && !*t)
		*t = term_new((int)MIN(a, (size_t)TERM_MAX), (int)MIN(b, (size_t)TERM_MAX), on,
			      data);
	else if (what == 'R' && *t)
		term_resize(*t, (int)MIN(a, (size_t)TERM_MAX), (int)MIN(b, (size_t)TERM_MAX));
	else if (what == 'F' && *t && a <= (size_t)(end - *p)) {
		term_feed(*t, *p, a);
		*p += a;
	} else if (what == 'L' && *t) {
		(*t)->sieve.last = a <= 0x10ffff && text_cp_width((int32_t)a) > 0 ? (int32_t)a : 0;
	} else {
		return false;
	}
	return true;
}

struct term *term_from_snapshot(const char *key, size_t len, const struct term_events *on,
				void *data)
{
	const char *p = key, *end = key + len;
	struct term *t = NULL;

	while (p < end) {
		if (!apply_command(&t, &p, end, on, data)) {
			term_free(t);
			return NULL;
		}
	}
	return t;
}
