/* paint - the bytes that turn the terminal's screen into another surface. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/paint.h"

#include <string.h>

#include "core/base/text.h"

#define SYNC_ON	 "\033[?2026h"
#define SYNC_OFF "\033[?2026l"
#define GAP	 4 /* so many unchanged cells cost fewer bytes than a new position */

void paint_init(struct paint *p, enum depth depth, bool eight, bool simple)
{
	*p = (struct paint){.depth = depth, .eight = eight, .simple = simple, .x = -1};
}

void paint_done(struct paint *p)
{
	surface_done(&p->shown);
}

void paint_forget(struct paint *p)
{
	p->known = p->styled = false;
	p->x = -1;
	p->cursor = (struct cursor){0};
}

/* ---- style ------------------------------------------------------------------------------------
 */

static void put_color(const struct paint *p, struct buf *out, uint32_t c, bool bg)
{
	unsigned base = bg ? 40 : 30, i = c & 0xff;

	c = color_reduce(c, p->depth);
	if (c == COLOR_DEFAULT)
		return;
	if (COLOR_IS_RGB(c)) {
		buf_fmt(out, ";%u;2;%u;%u;%u", base + 8, (unsigned)(c >> 16 & 0xff),
			(unsigned)(c >> 8 & 0xff), (unsigned)(c & 0xff));
		return;
	}
	i = c & 0xff;
	if (i < 8 || p->eight)
		buf_fmt(out, ";%u", base + (i & 7));
	else if (i < 16)
		buf_fmt(out, ";%u", base + 60 + (i & 7));
	else
		buf_fmt(out, ";%u;5;%u", base + 8, i);
}

/* A terminal that does not know kinds of underline keeps the straight one. */
static void put_underline(const struct paint *p, struct buf *out, uint32_t attr)
{
	unsigned kind = STYLE_UNDERLINE_OF(attr);

	if (!(attr & STYLE_UNDERLINE))
		return;
	buf_str(out, ";4");
	if (kind > UNDERLINE_STRAIGHT && !p->simple)
		buf_fmt(out, "m\033[4:%u", kind + 1);
}

/* Uses colons: a terminal that does not support the sequence ignores it. */
static void put_line_color(const struct paint *p, struct buf *out, const struct style *st)
{
	uint32_t c = color_reduce(st->line, p->depth);

	if (!(st->attr & STYLE_UNDERLINE) || c == COLOR_DEFAULT || p->simple)
		return;
	if (COLOR_IS_RGB(c))
		buf_fmt(out, "\033[58:2::%u:%u:%um", (unsigned)(c >> 16 & 0xff),
			(unsigned)(c >> 8 & 0xff), (unsigned)(c & 0xff));
	else
		buf_fmt(out, "\033[58:5:%um", (unsigned)(c & 0xff));
}

static void put_style(struct paint *p, struct buf *out, const struct style *st)
{
	uint32_t fg = color_reduce(st->fg, p->depth), attr = st->attr;

	if (p->styled && memcmp(st, &p->style, sizeof(*st)) == 0)
		return;
	if (p->eight && COLOR_IS_INDEX(fg) && (fg & 0xff) >= 8)
		attr |= STYLE_BOLD;
	buf_fmt(out, "\033[0%s%s%s%s%s%s", attr & STYLE_BOLD ? ";1" : "",
		attr & STYLE_DIM ? ";2" : "", attr & STYLE_ITALIC ? ";3" : "",
		attr & STYLE_BLINK ? ";5" : "", attr & STYLE_REVERSE ? ";7" : "",
		attr & STYLE_STRIKE ? ";9" : "");
	put_color(p, out, st->fg, false);
	put_color(p, out, st->bg, true);
	put_underline(p, out, attr);
	buf_ch(out, 'm');
	put_line_color(p, out, st);
	p->style = *st;
	p->styled = true;
}

/* ---- cells ------------------------------------------------------------------------------------
 */

static void go(struct paint *p, struct buf *out, int x, int y)
{
	if (p->x == x && p->y == y)
		return;
	if (p->y == y && p->x >= 0 && !p->simple)
		buf_fmt(out, "\033[%dG", x + 1);
	else
		buf_fmt(out, "\033[%d;%dH", y + 1, x + 1);
	p->x = x;
	p->y = y;
}

/* Returns whether all terminals give it one column: Latin, box drawing, blocks and braille. */
static bool is_plain(int32_t cp)
{
	return (cp >= ' ' && cp < 0x7f) || (cp >= 0xa0 && cp < 0x300 && cp != 0xad) ||
	       (cp >= 0x2500 && cp < 0x2600) || (cp >= 0x2800 && cp < 0x2900);
}

/* A '?' for each column of a character beyond ASCII, without its marks. */
static void put_ascii(struct paint *p, struct buf *out, const struct cell *c)
{
	char first = *c->text ? *c->text : ' ';

	for (int i = 0; i < c->width; i++)
		buf_ch(out, first >= ' ' && first < 0x7f ? first : '?');
	p->x += c->width;
}

static void put_cell(struct paint *p, struct buf *out, const struct cell *c)
{
	size_t len = strlen(c->text);
	bool plain = c->width == 1;

	if (p->ascii) {
		put_ascii(p, out, c);
		return;
	}
	if (!len)
		buf_ch(out, ' ');
	for (size_t i = 0; i < len;) {
		int32_t cp;
		size_t n = text_decode(c->text + i, len - i, &cp);

		if (cp < ' ' || (cp >= 0x7f && cp < 0xa0)) {
			buf_ch(out, '?');
			plain = false;
		} else {
			buf_add(out, c->text + i, n);
			plain = plain && i == 0 && is_plain(cp);
		}
		i += n;
	}
	p->x = plain ? p->x + 1 : -1;
}

static bool is_blank(const struct cell *c)
{
	return c->width == 1 && (!*c->text || strcmp(c->text, " ") == 0) && !c->style.bg &&
	       !(c->style.attr & (STYLE_REVERSE | STYLE_UNDERLINE | STYLE_STRIKE));
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns the column from which the row is blank, so that the terminal can erase its rest. */
static int blank_from(const struct cell *row, int w)
{
	while (w > 0 && is_blank(&row[w - 1]))
		w--;
	return w;
}

/* Returns whether the terminal shows the cell at x; a wide character is compared with both
 * halves. */
static bool is_shown(const struct cell *new, const struct cell *old, int x, int w)
{
	if (!is_same(&new[x], &old[x]))
		return false;
	return new[x].width != 2 || x + 1 >= w || is_same(&new[x + 1], &old[x + 1]);
}

static void erase_rest(struct paint *p, struct buf *out, int x, int y)
{
	static const struct style plain;

	go(p, out, x, y);
	put_style(p, out, &plain);
	buf_str(out, "\033[K");
}

static void put_row(struct paint *p, struct buf *out, const struct surface *f, int y)
{
	struct cell *old = surface_cell(&p->shown, 0, y);
	const struct cell *new = surface_cell(f, 0, y);
	int end = blank_from(new, f->w), last = f->w;

	while (last > 0 && p->known && is_same(&new[last - 1], &old[last - 1]))
		last--;
	/* Two or three blanks are as short as erasing them. */
	if (last - end < 4)
		end = last;
	for (int x = 0; x < MIN(last, end); x++) {
		if (!new[x].width || (p->known && is_shown(new, old, x, f->w)))
			continue;
		/* A short gap is printed again. */
		if (p->y == y && p->x >= 0 && x > p->x && x - p->x <= GAP)
			for (int k = p->x; k < x && p->x == k && new[k].width == 1; k++) {
				put_style(p, out, &new[k].style);
				put_cell(p, out, &new[k]);
			}
		go(p, out, x, y);
		put_style(p, out, &new[x].style);
		put_cell(p, out, &new[x]);
		if (x + 1 >= f->w)
			p->x = -1; /* in the last column, or behind it */
	}
	if (end < last)
		erase_rest(p, out, end, y);
	memcpy(old, new, (size_t)f->w * sizeof(*new));
}

static bool same_cursor(const struct cursor *a, const struct cursor *b)
{
	return a->visible == b->visible && a->x == b->x && a->y == b->y && a->shape == b->shape;
}

static void put_cursor(struct paint *p, struct buf *out, const struct cursor *c)
{
	static const int shapes[] = {2, 4, 6};

	if (c->visible)
		go(p, out, c->x, c->y);
	if (c->visible && !p->simple && (c->shape != p->cursor.shape || !p->cursor.visible))
		buf_fmt(out, "\033[%d q", shapes[c->shape]);
	buf_str(out, c->visible ? "\033[?25h" : "\033[?25l");
	p->cursor = *c;
}

void paint_frame(struct paint *p, const struct surface *f, struct buf *out)
{
	struct cursor c = f->cursor;
	size_t from, begin = out->len;

	c.x = MIN(MAX(c.x, 0), MAX(f->w - 1, 0));
	c.y = MIN(MAX(c.y, 0), MAX(f->h - 1, 0));
	if (p->shown.w != f->w || p->shown.h != f->h) {
		surface_resize(&p->shown, f->w, f->h);
		p->known = false;
	}
	buf_str(out, p->simple ? "\033[?25l" : SYNC_ON "\033[?25l");
	from = out->len;
	if (!p->known) {
		buf_str(out, "\033[0m\033[2J");
		p->x = -1;
		p->styled = false;
		surface_clear(&p->shown, &(struct style){0});
		p->known = true;
	}
	for (int y = 0; y < f->h; y++)
		put_row(p, out, f, y);
	if (out->len == from && same_cursor(&c, &p->cursor)) {
		buf_truncate(out, begin);
		return;
	}
	put_cursor(p, out, &c);
	if (!p->simple)
		buf_str(out, SYNC_OFF);
}
