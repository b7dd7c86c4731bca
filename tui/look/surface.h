/* surface - a grid of styled cells: views paint it, tests compare it, the screen shows it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * Life:     surface_init() -> surface_done(). Sizes are in columns and rows.
 * Clipping: everything outside s->clip is dropped; a wide character that does not fit whole is
 *           drawn as a blank. surface_clip() narrows and returns the old clip to put back.
 * Text:     surface_text() expects text that was escaped (text_escape) when an agent could choose
 *           it; control characters are drawn as '?' in any case.
 */

/* Colours: the terminal's default, a palette index, or 24 bits. */
#define COLOR_DEFAULT	   0u
#define COLOR_INDEX(n)	   (0x01000000u | ((uint32_t)(n)&0xffu))
#define COLOR_RGB(r, g, b) (0x02000000u | (uint32_t)(r) << 16 | (uint32_t)(g) << 8 | (uint32_t)(b))
#define COLOR_IS_INDEX(c)  ((c) >> 24 == 1)
#define COLOR_IS_RGB(c)	   ((c) >> 24 == 2)

enum style_attr {
	STYLE_BOLD = 1 << 0,
	STYLE_DIM = 1 << 1,
	STYLE_ITALIC = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
	STYLE_REVERSE = 1 << 4,
	STYLE_STRIKE = 1 << 5,
	STYLE_BLINK = 1 << 6,
};

/* Kinds of underline, in three bits beside STYLE_UNDERLINE. */
enum underline {
	UNDERLINE_STRAIGHT,
	UNDERLINE_DOUBLE,
	UNDERLINE_CURLY,
	UNDERLINE_DOTTED,
	UNDERLINE_DASHED,
};
#define STYLE_UNDERLINE_OF(attr) ((attr) >> 8 & 7u)
#define STYLE_UNDERLINE_AS(kind) (STYLE_UNDERLINE | (uint32_t)(kind) << 8)

struct style {
	uint32_t fg, bg;
	uint32_t attr; /* STYLE_* bits */
	uint32_t line; /* colour of the underline; COLOR_DEFAULT: the text's */
	uint32_t link; /* number for term_link(), in the agent's terminal; 0: none */
};

#define CELL_BYTES 32 /* a family of emoji takes 25 */

/* One column. The right half of a wide character is a cell of width 0 with empty text. */
struct cell {
	char text[CELL_BYTES - 1]; /* UTF-8 with combining marks and a NUL; "" is a blank */
	uint8_t width;		   /* 1, 2, or 0 for a right half */
	struct style style;
};

struct rect {
	int x, y, w, h;
};

enum cursor_shape {
	CURSOR_BLOCK,
	CURSOR_UNDERLINE,
	CURSOR_BAR,
};

/* Set by the view that has the focus; else hidden. */
struct cursor {
	bool visible;
	int x, y;
	enum cursor_shape shape;
};

struct surface {
	int w, h;
	struct cell *cells; /* w * h, row by row */
	struct rect clip;
	struct cursor cursor;
	const struct style *roles; /* indexed by enum role (theme.h); borrowed; NULL: all plain */
	bool ascii;		   /* borders and signs without box drawing */
};

void surface_init(struct surface *s, int w, int h);
void surface_done(struct surface *s);
void surface_resize(struct surface *s, int w, int h); /* clears it */
void surface_clear(struct surface *s, const struct style *style);
struct cell *surface_cell(const struct surface *s, int x, int y); /* NULL outside the grid */
struct style surface_role(const struct surface *s, int role);

struct rect surface_clip(struct surface *s, struct rect r); /* intersects; returns the old clip */
struct rect rect_intersect(struct rect a, struct rect b);
struct rect rect_inset(struct rect r, int dx, int dy); /* never negative */
bool rect_has(struct rect r, int x, int y);

/* Sets one cell: len bytes of UTF-8 (cut to the size of a cell), 1 or 2 columns wide. The fast path
 * of the terminal pane. */
void surface_put(struct surface *s, int x, int y, const char *text, size_t len, int width,
		 const struct style *style);
/* Draws escaped text in at most cols columns; returns the columns used. */
int surface_text_style(struct surface *s, int x, int y, int cols, const struct style *style,
		       const char *text);
int surface_text(struct surface *s, int x, int y, int cols, int role, const char *text);
int surface_fmt(struct surface *s, int x, int y, int cols, int role, const char *fmt, ...)
	PRINTF_LIKE(6, 7);
/* Draws hostile text: escaped, then cut in the middle to cols. Returns the columns used. */
int surface_hostile(struct surface *s, int x, int y, int cols, int role, const char *raw);
/* Like surface_hostile(), but cuts the end: for command lines and words. */
int surface_hostile_end(struct surface *s, int x, int y, int cols, int role, const char *raw);
void surface_fill(struct surface *s, struct rect r, int role);
/* Changes the style of existing cells: a selected row, a match. */
void surface_paint(struct surface *s, struct rect r, const struct style *style);

enum border {
	BORDER_THIN,
	BORDER_THICK,  /* focused pane */
	BORDER_DOUBLE, /* cordon's own questions */
};
void surface_box(struct surface *s, struct rect r, int role, enum border border);
void surface_vline(struct surface *s, int x, int y, int h, int role);

/* Appends the rows as text without trailing blanks, then the styles: for golden files. */
void surface_dump(const struct surface *s, struct buf *out);
