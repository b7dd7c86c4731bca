/* raster - draws cells of a surface as pixels. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/raster.h"

#include <string.h>
#include <utf8proc.h>

#include "core/base/text.h"
#include "tui/look/theme.h"

#define LINE_Y	 14 /* where underlines are */
#define STRIKE_Y 8
#define BAR	 0xc000 /* the cursor between two characters */

/* One cell being drawn: a mask of pixels, and what they are drawn with. */
struct drawn {
	uint16_t rows[FONT_H];
	uint16_t under[FONT_H]; /* the underline; its colour may differ from the text's */
	int columns;
	uint32_t fg, bg, line;
};

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint32_t out = 0;

	for (int shift = 0; shift < 24; shift += 8)
		out |= ((a >> shift & 0xff) * 3 + (b >> shift & 0xff) * 2) / 5 << shift;
	return out;
}

static void pick_colors(struct drawn *d, const struct style *st)
{
	d->fg = st->fg ? color_rgb(st->fg) : RASTER_TEXT;
	d->bg = st->bg ? color_rgb(st->bg) : RASTER_GROUND;
	if (st->attr & STYLE_REVERSE) {
		uint32_t swap = d->fg;

		d->fg = d->bg;
		d->bg = swap;
	}
	if (st->attr & STYLE_DIM)
		d->fg = mix(d->fg, d->bg);
	d->line = st->line ? color_rgb(st->line) : d->fg;
}

static bool combines(int32_t cp)
{
	utf8proc_category_t c = utf8proc_category(cp);

	return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME;
}

static void put_text(struct drawn *d, const struct font *f, const struct cell *c)
{
	size_t len = strlen(c->text);
	uint16_t rows[FONT_H];
	int32_t cp = ' ';

	for (size_t i = 0; i < len;) {
		bool first = i == 0;

		i += text_decode(c->text + i, len - i, &cp);
		if (cp == ' ' || (!first && !combines(cp)) ||
		    (!font_glyph(f, cp, d->columns, rows) && !first))
			continue;
		for (int y = 0; y < FONT_H; y++)
			d->rows[y] |= rows[y];
	}
}

static void put_weight(struct drawn *d, uint32_t attr)
{
	uint16_t whole = d->columns == 2 ? 0xffff : 0xff00;

	for (int y = 0; y < FONT_H; y++) {
		if (attr & STYLE_BOLD)
			d->rows[y] |= d->rows[y] >> 1;
		if (attr & STYLE_ITALIC) /* upper third shifted right, lower third shifted left */
			d->rows[y] = (uint16_t)(y < 6	 ? d->rows[y] >> 1
						: y < 11 ? d->rows[y]
							 : d->rows[y] << 1);
		d->rows[y] &= whole;
	}
	if (attr & STYLE_STRIKE)
		d->rows[STRIKE_Y] |= whole;
}

static void put_underline(struct drawn *d, uint32_t attr)
{
	if (!(attr & STYLE_UNDERLINE))
		return;
	switch ((enum underline)STYLE_UNDERLINE_OF(attr)) {
	case UNDERLINE_DOUBLE:
		d->under[LINE_Y - 1] = d->under[LINE_Y + 1] = 0xffff;
		break;
	case UNDERLINE_CURLY:
		d->under[LINE_Y - 1] = 0x6666;
		d->under[LINE_Y] = 0x9999;
		break;
	case UNDERLINE_DOTTED:
		d->under[LINE_Y] = 0xaaaa;
		break;
	case UNDERLINE_DASHED:
		d->under[LINE_Y] = 0xeeee;
		break;
	case UNDERLINE_STRAIGHT:
	default:
		d->under[LINE_Y] = 0xffff;
	}
}

static void put_cursor(struct drawn *d, enum cursor_shape shape)
{
	uint32_t swap = d->fg;

	if (shape == CURSOR_BLOCK) {
		d->fg = d->bg;
		d->bg = swap;
		return;
	}
	for (int y = 0; y < FONT_H; y++)
		d->rows[y] |= shape == CURSOR_BAR ? BAR : y >= LINE_Y ? 0xffff : 0;
}

/* x, y: place in the pixels, which are w wide; pixels beyond w are cut off. */
static void put_pixels(const struct drawn *d, int x, int y, int w, uint32_t *rgb)
{
	for (int dy = 0; dy < FONT_H; dy++) {
		uint32_t *to = rgb + (size_t)(y + dy) * (size_t)w;

		for (int dx = 0; dx < d->columns * FONT_W && x + dx < w; dx++) {
			uint16_t bit = (uint16_t)(0x8000 >> dx);

			to[x + dx] = d->rows[dy] & bit	  ? d->fg
				     : d->under[dy] & bit ? d->line
							  : d->bg;
		}
	}
}

void raster_cells(const struct font *f, const struct surface *s, struct rect r, uint32_t *rgb)
{
	for (int y = 0; y < r.h; y++) {
		for (int x = 0; x < r.w;) {
			const struct cell *c = surface_cell(s, r.x + x, r.y + y);
			struct drawn d = {.columns = c->width == 2 ? 2 : 1};

			pick_colors(&d, &c->style);
			put_text(&d, f, c);
			put_weight(&d, c->style.attr);
			put_underline(&d, c->style.attr);
			if (s->cursor.visible && s->cursor.y == r.y + y && s->cursor.x >= r.x + x &&
			    s->cursor.x < r.x + x + d.columns)
				put_cursor(&d, s->cursor.shape);
			put_pixels(&d, x * FONT_W, y * FONT_H, r.w * FONT_W, rgb);
			x += d.columns;
		}
	}
}
