/* cells - libvterm's cells turned into encoded lines. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#include "core/base/text.h"

#define RIGHT_HALF   ((uint32_t)-1)
#define WIDE_UNKNOWN 0xff1f /* for a lone skin tone, which would join the cell before */

uint32_t cells_colour(const VTermColor *c)
{
	if (c->type & VTERM_COLOR_DEFAULT_MASK)
		return COLOR_DEFAULT;
	if (VTERM_COLOR_IS_INDEXED(c))
		return COLOR_INDEX(c->indexed.idx);
	return COLOR_RGB(c->rgb.red, c->rgb.green, c->rgb.blue);
}

static bool font_is_dim(const VTermScreenCell *c)
{
	return c->attrs.font == FONT_DIM || c->attrs.font == FONT_WRAP + FONT_DIM;
}

static bool font_conceals(const VTermScreenCell *c)
{
	return c->attrs.font == FONT_CONCEAL || c->attrs.font == FONT_WRAP + FONT_CONCEAL;
}

/* Returns the flags of a row, from the mark that wrap.c has set on its last character. */
static unsigned flags_of(const VTermScreenCell *cells, int cols)
{
	const VTermScreenCell *c = &cells[cols - 1];

	if (c->chars[0] == RIGHT_HALF && cols > 1)
		c--;
	if (!c->chars[0] || c->chars[0] == RIGHT_HALF)
		return 0;
	if (c->attrs.font == FONT_PAD)
		return LINE_WRAPS | LINE_PADDED;
	return c->attrs.font >= FONT_WRAP && c->attrs.font < FONT_PAD ? LINE_WRAPS : 0;
}

static struct style style_of(const struct term *t, const VTermScreenCell *c)
{
	struct style st = {.fg = cells_colour(&c->fg), .bg = cells_colour(&c->bg)};

	/* libvterm combines reverse video of the screen with each cell's own; the cell's own is
	 * wanted. */
	st.attr = (c->attrs.bold ? STYLE_BOLD : 0u) | (c->attrs.italic ? STYLE_ITALIC : 0u) |
		  (c->attrs.blink ? STYLE_BLINK : 0u) |
		  (c->attrs.underline ? STYLE_UNDERLINE_AS(c->attrs.underline - 1) : 0u) |
		  ((bool)c->attrs.reverse != t->reverse ? STYLE_REVERSE : 0u) |
		  (c->attrs.strike ? STYLE_STRIKE : 0u) | (font_is_dim(c) ? STYLE_DIM : 0u);
	return st;
}

static const struct extra *extra_of(const struct term *t, const VTermScreenCell *c)
{
	for (int i = 1; i + 1 < VTERM_MAX_CHARS_PER_CELL && c->chars[i]; i++)
		if (EXTRA_IS(c->chars[i]) && EXTRA_IS(c->chars[i + 1]))
			return extras_at(&t->extras, (c->chars[i] - EXTRA_FIRST) * EXTRA_DIGITS +
							     (c->chars[i + 1] - EXTRA_FIRST));
	return NULL;
}

static void add_extra(struct style *st, const struct extra *e)
{
	if (!e)
		return;
	st->line = e->line;
	st->link = e->link;
	if (e->underline && st->attr & STYLE_UNDERLINE)
		st->attr |= STYLE_UNDERLINE_AS(e->underline - 1);
}

/* Writes a cell's UTF-8. Returns its columns; 0 if it has nothing to show. */
static int glyph_text(const VTermScreenCell *c, const struct extra *extra,
		      char out[CLUSTER_MAX + 1], size_t *len)
{
	int32_t cp = glyph_unalias((int32_t)c->chars[0]);
	int cols = text_cp_width(cp);

	if (cols <= 0 || font_conceals(c))
		return 0;
	if (extra && *extra->cluster) {
		*len = strlen(extra->cluster);
		memcpy(out, extra->cluster, *len);
		return cols;
	}
	*len = glyph_utf8(EXTRA_TONE(cp) ? WIDE_UNKNOWN : cp, out);
	for (int i = 1; i < VTERM_MAX_CHARS_PER_CELL && c->chars[i]; i++)
		if (!EXTRA_IS(c->chars[i]) && text_cp_width((int32_t)c->chars[i]) == 0)
			*len += glyph_utf8((int32_t)c->chars[i], out + *len);
	return cols;
}

struct span cells_encode(struct term *t, const VTermScreenCell *cells, int cols)
{
	struct line_writer *w = &t->writer;
	struct style left = {0};

	line_begin(w);
	for (int i = 0; i < cols; i++) {
		const VTermScreenCell *c = &cells[i];
		struct style st = {0};
		const struct extra *extra;
		char text[CLUSTER_MAX + 1];
		size_t len;
		int width;

		if (!c->chars[0] || c->chars[0] == RIGHT_HALF) {
			/* An erased cell has only a background; a right half without its left half
			 * has no style. */
			st.bg = c->chars[0] ? left.bg : cells_colour(&c->bg);
			line_cell(w, " ", 1, 1, &st);
			left = st;
			continue;
		}
		left = st = style_of(t, c);
		if (c->chars[0] < 0x7f && !c->chars[1] && !font_conceals(c)) {
			text[0] = (char)c->chars[0];
			line_cell(w, text, 1, 1, &st);
			continue;
		}
		extra = extra_of(t, c);
		add_extra(&st, extra);
		left = st;
		width = glyph_text(c, extra, text, &len);
		/* A wide character without its right half is a blank. */
		if (width == 2 && (i + 1 >= cols || cells[i + 1].chars[0] != RIGHT_HALF))
			width = 0;
		if (width == 0)
			line_cell(w, " ", 1, 1, &st);
		else
			line_cell(w, text, len, width, &st);
		i += width == 2;
	}
	w->flags = flags_of(cells, cols);
	return line_end(w);
}
