/* cells - libvterm's cells turned into encoded lines, and back. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#include "core/base/text.h"

/* What pen.c hides in the font of a cell. */
enum {
	FONT_DIM = 1,
	FONT_CONCEAL = 2,
};

#define RIGHT_HALF ((uint32_t)-1)

static uint32_t colour_of(const VTermColor *c)
{
	if (c->type & VTERM_COLOR_DEFAULT_MASK)
		return COLOR_DEFAULT;
	if (VTERM_COLOR_IS_INDEXED(c))
		return COLOR_INDEX(c->indexed.idx);
	return COLOR_RGB(c->rgb.red, c->rgb.green, c->rgb.blue);
}

static struct style style_of(const struct term *t, const VTermScreenCell *c)
{
	struct style st = {.fg = colour_of(&c->fg), .bg = colour_of(&c->bg)};

	/* libvterm mixes reverse video of the whole screen into each cell; here it is apart. */
	st.attr = (c->attrs.bold ? STYLE_BOLD : 0u) | (c->attrs.italic ? STYLE_ITALIC : 0u) |
		  (c->attrs.underline ? STYLE_UNDERLINE : 0u) |
		  ((bool)c->attrs.reverse != t->reverse ? STYLE_REVERSE : 0u) |
		  (c->attrs.strike ? STYLE_STRIKE : 0u) |
		  (c->attrs.font == FONT_DIM ? STYLE_DIM : 0u);
	return st;
}

/* UTF-8 of a cell. Returns its columns: 0 is "nothing that can be shown here". */
static int glyph_text(const VTermScreenCell *c, char out[4 * VTERM_MAX_CHARS_PER_CELL], size_t *len)
{
	int32_t cp = glyph_unalias((int32_t)c->chars[0]);
	int cols = text_cp_width(cp);

	if (cols <= 0 || c->attrs.font == FONT_CONCEAL)
		return 0;
	*len = glyph_utf8(cp, out);
	for (int i = 1; i < VTERM_MAX_CHARS_PER_CELL && c->chars[i]; i++)
		if (text_cp_width((int32_t)c->chars[i]) == 0)
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
		char text[4 * VTERM_MAX_CHARS_PER_CELL];
		size_t len;
		int width;

		if (!c->chars[0] || c->chars[0] == RIGHT_HALF) {
			/* The background is all that an erase leaves; a right half without its
			 * left one has no style of its own. */
			st.bg = c->chars[0] ? left.bg : colour_of(&c->bg);
			line_cell(w, " ", 1, 1, &st);
			left = st;
			continue;
		}
		left = st = style_of(t, c);
		if (c->chars[0] < 0x7f && !c->chars[1] && c->attrs.font != FONT_CONCEAL) {
			text[0] = (char)c->chars[0];
			line_cell(w, text, 1, 1, &st);
			continue;
		}
		width = glyph_text(c, text, &len);
		/* A wide character that lost its right half is a blank. */
		if (width == 2 && (i + 1 >= cols || cells[i + 1].chars[0] != RIGHT_HALF))
			width = 0;
		if (width == 0)
			line_cell(w, " ", 1, 1, &st);
		else
			line_cell(w, text, len, width, &st);
		i += width == 2;
	}
	return line_end(w);
}

static VTermColor colour_to(const struct term *t, uint32_t c, bool bg)
{
	VTermColor fg_default, bg_default, ret;

	if (COLOR_IS_INDEX(c)) {
		vterm_color_indexed(&ret, (uint8_t)c);
		return ret;
	}
	if (COLOR_IS_RGB(c)) {
		vterm_color_rgb(&ret, (uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c);
		return ret;
	}
	vterm_state_get_default_colors(t->state, &fg_default, &bg_default);
	return bg ? bg_default : fg_default;
}

static void style_to(const struct term *t, VTermScreenCell *c, const struct style *st)
{
	c->fg = colour_to(t, st->fg, false);
	c->bg = colour_to(t, st->bg, true);
	c->attrs.bold = !!(st->attr & STYLE_BOLD);
	c->attrs.italic = !!(st->attr & STYLE_ITALIC);
	c->attrs.underline = !!(st->attr & STYLE_UNDERLINE);
	c->attrs.reverse = !!(st->attr & STYLE_REVERSE) != t->reverse;
	c->attrs.strike = !!(st->attr & STYLE_STRIKE);
	c->attrs.font = st->attr & STYLE_DIM ? FONT_DIM : 0;
}

void cells_decode(const struct term *t, struct span line, VTermScreenCell *cells, int cols)
{
	static const struct style plain;
	struct line_reader r;
	struct line_cell c;
	int i = 0;

	memset(cells, 0, (size_t)cols * sizeof(*cells));
	line_read(&r, line);
	while (line_next(&r, &c) && i + c.cols <= cols) {
		size_t used = 0;

		style_to(t, &cells[i], &c.style);
		cells[i].width = (char)c.cols;
		for (int k = 0; k < VTERM_MAX_CHARS_PER_CELL && used < c.len; k++) {
			int32_t cp;

			used += text_decode(c.text + used, c.len - used, &cp);
			cells[i].chars[k] = (uint32_t)cp;
		}
		i += c.cols;
	}
	for (; i < cols; i++) {
		cells[i].width = 1;
		style_to(t, &cells[i], &plain);
	}
}
