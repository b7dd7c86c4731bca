/* surface - a grid of styled cells: views paint it, tests compare it, the screen shows it. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/surface.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/text.h"

void surface_init(struct surface *s, int w, int h)
{
	memset(s, 0, sizeof(*s));
	surface_resize(s, w, h);
}

void surface_done(struct surface *s)
{
	free(s->cells);
	s->cells = NULL;
	s->w = s->h = 0;
}

void surface_resize(struct surface *s, int w, int h)
{
	s->w = MAX(w, 0);
	s->h = MAX(h, 0);
	free(s->cells);
	s->cells = xcalloc((size_t)s->w * (size_t)s->h, sizeof(*s->cells));
	s->clip = (struct rect){0, 0, s->w, s->h};
	s->cursor = (struct cursor){0};
}

static void blank(struct cell *c, const struct style *style)
{
	memset(c, 0, sizeof(*c));
	c->width = 1;
	c->style = *style;
}

void surface_clear(struct surface *s, const struct style *style)
{
	s->clip = (struct rect){0, 0, s->w, s->h};
	s->cursor = (struct cursor){0};
	for (size_t i = 0; i < (size_t)s->w * (size_t)s->h; i++)
		blank(&s->cells[i], style);
}

/* x and y must be inside. */
static struct cell *cell_at(const struct surface *s, int x, int y)
{
	return &s->cells[(size_t)y * (size_t)s->w + (size_t)x];
}

struct cell *surface_cell(const struct surface *s, int x, int y)
{
	if (x < 0 || y < 0 || x >= s->w || y >= s->h)
		return NULL;
	return cell_at(s, x, y);
}

struct style surface_role(const struct surface *s, int role)
{
	return s->roles ? s->roles[role] : (struct style){0};
}

struct rect rect_intersect(struct rect a, struct rect b)
{
	int x = MAX(a.x, b.x), y = MAX(a.y, b.y);
	int right = MIN(a.x + a.w, b.x + b.w), bottom = MIN(a.y + a.h, b.y + b.h);

	return (struct rect){x, y, MAX(0, right - x), MAX(0, bottom - y)};
}

struct rect rect_inset(struct rect r, int dx, int dy)
{
	return (struct rect){r.x + dx, r.y + dy, MAX(0, r.w - 2 * dx), MAX(0, r.h - 2 * dy)};
}

bool rect_has(struct rect r, int x, int y)
{
	return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

struct rect surface_clip(struct surface *s, struct rect r)
{
	struct rect old = s->clip;

	s->clip = rect_intersect(old, r);
	return old;
}

/* Blanks the remaining half of a wide character whose other half is overwritten. */
static void heal(struct surface *s, int x, int y)
{
	struct cell *c = cell_at(s, x, y);

	if (c->width == 0 && x > 0 && c[-1].width == 2)
		blank(&c[-1], &c[-1].style);
	if (c->width == 2 && x + 1 < s->w && c[1].width == 0)
		blank(&c[1], &c[1].style);
}

void surface_put(struct surface *s, int x, int y, const char *text, size_t len, int width,
		 const struct style *style)
{
	struct cell *c;

	if (!rect_has(s->clip, x, y))
		return;
	heal(s, x, y);
	c = cell_at(s, x, y);
	blank(c, style);
	if (width == 2) {
		if (!rect_has(s->clip, x + 1, y))
			return;
		heal(s, x + 1, y);
		blank(c + 1, style);
		c[1].width = 0;
		c->width = 2;
	}
	if (len >= sizeof(c->text)) { /* drop marks that do not fit, never half a code point */
		len = sizeof(c->text) - 1;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	if (!(len == 1 && *text == ' '))
		memcpy(c->text, text, len);
}

/* Adds a combining mark to the cell before it. */
static void add_mark(struct surface *s, int x, int y, const char *mark, size_t n)
{
	struct cell *c = surface_cell(s, x, y);
	size_t len;

	if (c && c->width == 0)
		c = surface_cell(s, x - 1, y);
	if (!c || !rect_has(s->clip, x, y))
		return;
	len = strlen(c->text);
	if (len > 0 && len + n < sizeof(c->text))
		memcpy(c->text + len, mark, n);
}

int surface_text_style(struct surface *s, int x, int y, int cols, const struct style *style,
		       const char *text)
{
	size_t len = strlen(text);
	int used = 0;

	for (size_t i = 0; i < len;) {
		int32_t cp;
		size_t n = text_decode(text + i, len - i, &cp);
		int w = cp < 0 ? -1 : text_cp_width(cp);

		if (w == 0) {
			if (used > 0)
				add_mark(s, x + used - 1, y, text + i, n);
		} else {
			if (used + MAX(w, 1) > cols)
				break;
			if (w < 0)
				surface_put(s, x + used, y, "?", 1, 1, style);
			else
				surface_put(s, x + used, y, text + i, n, w, style);
			used += MAX(w, 1);
		}
		i += n;
	}
	return used;
}

int surface_text(struct surface *s, int x, int y, int cols, int role, const char *text)
{
	struct style style = surface_role(s, role);

	return surface_text_style(s, x, y, cols, &style, text);
}

int surface_fmt(struct surface *s, int x, int y, int cols, int role, const char *fmt, ...)
{
	AUTO_BUF struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	return surface_text(s, x, y, cols, role, b.data);
}

int surface_hostile(struct surface *s, int x, int y, int cols, int role, const char *raw)
{
	AUTO_BUF struct buf safe = BUF_INIT;
	AUTO_BUF struct buf fit = BUF_INIT;

	text_escape(&safe, raw, strlen(raw));
	text_fit_middle(&fit, safe.data, cols);
	return surface_text(s, x, y, cols, role, fit.data);
}

int surface_hostile_end(struct surface *s, int x, int y, int cols, int role, const char *raw)
{
	AUTO_BUF struct buf safe = BUF_INIT;
	AUTO_BUF struct buf fit = BUF_INIT;

	text_escape(&safe, raw, strlen(raw));
	text_fit_end(&fit, safe.data, cols);
	return surface_text(s, x, y, cols, role, fit.data);
}

void surface_fill(struct surface *s, struct rect r, int role)
{
	struct style style = surface_role(s, role);

	r = rect_intersect(r, s->clip);
	for (int y = r.y; y < r.y + r.h; y++) {
		for (int x = r.x; x < r.x + r.w; x++)
			surface_put(s, x, y, "", 0, 1, &style);
	}
}

void surface_paint(struct surface *s, struct rect r, const struct style *style)
{
	r = rect_intersect(r, s->clip);
	for (int y = r.y; y < r.y + r.h; y++) {
		for (int x = r.x; x < r.x + r.w; x++) {
			struct cell *c = cell_at(s, x, y);

			c->style.bg = style->bg;
			if (style->fg != COLOR_DEFAULT || (style->attr & STYLE_REVERSE))
				c->style.fg = style->fg;
			c->style.attr |= style->attr;
		}
	}
}

/* Corners clockwise from top left, then horizontal, vertical. */
static const char *const border_signs[][6] = {
	[BORDER_THIN] = {"┌", "┐", "┘", "└", "─", "│"},
	[BORDER_THICK] = {"┏", "┓", "┛", "┗", "━", "┃"},
	[BORDER_DOUBLE] = {"╔", "╗", "╝", "╚", "═", "║"},
};
static const char *const border_ascii[][6] = {
	[BORDER_THIN] = {"+", "+", "+", "+", "-", "|"},
	[BORDER_THICK] = {"#", "#", "#", "#", "=", "#"},
	[BORDER_DOUBLE] = {"*", "*", "*", "*", "=", "*"},
};

void surface_box(struct surface *s, struct rect r, int role, enum border border)
{
	const char *const *b = s->ascii ? border_ascii[border] : border_signs[border];
	int right = r.x + r.w - 1, bottom = r.y + r.h - 1;

	if (r.w < 2 || r.h < 2)
		return;
	for (int x = r.x + 1; x < right; x++) {
		surface_text(s, x, r.y, 1, role, b[4]);
		surface_text(s, x, bottom, 1, role, b[4]);
	}
	for (int y = r.y + 1; y < bottom; y++) {
		surface_text(s, r.x, y, 1, role, b[5]);
		surface_text(s, right, y, 1, role, b[5]);
	}
	surface_text(s, r.x, r.y, 1, role, b[0]);
	surface_text(s, right, r.y, 1, role, b[1]);
	surface_text(s, right, bottom, 1, role, b[2]);
	surface_text(s, r.x, bottom, 1, role, b[3]);
}

void surface_vline(struct surface *s, int x, int y, int h, int role)
{
	for (int i = 0; i < h; i++)
		surface_text(s, x, y + i, 1, role, s->ascii ? "|" : "│");
}
