/* font - a bitmap font: the pixels of a character in a terminal's cell. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/font.h"

#include <fcntl.h>
#include <string.h>

#include "core/base/builtin.h"
#include "core/base/io.h"

#define CODES	      0x10000 /* the Basic Multilingual Plane */
#define INSTALLED_MAX ((size_t)16 << 20)
#define NARROW	      (FONT_H * 2) /* digits of a glyph of 8 columns of pixels */
#define WIDE	      (FONT_H * 4)

struct font {
	const char **glyphs; /* digits, in the shipped text or in `installed` */
	char *installed;
};

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static size_t digits(const char *s)
{
	return strspn(s, "0123456789ABCDEF");
}

static void read_line(struct font *f, const char *line)
{
	size_t code = 0, n;

	if (digits(line) != 4 || line[4] != ':')
		return;
	for (int i = 0; i < 4; i++)
		code = code << 4 | (size_t)digit(line[i]);
	n = digits(line + 5);
	if ((n == NARROW || n == WIDE) && !f->glyphs[code])
		f->glyphs[code] = line + 5;
}

static void read_lines(struct font *f, const char *text)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		read_line(f, line);
	}
}

struct font *font_new(const char *installed)
{
	struct font *f = xcalloc(1, sizeof(*f));
	size_t len;

	f->glyphs = xcalloc(CODES, sizeof(*f->glyphs));
	read_lines(f, builtin_find("unifont.hex"));
	if (installed && io_read_file(AT_FDCWD, installed, INSTALLED_MAX, &f->installed, &len) == 0)
		read_lines(f, f->installed);
	return f;
}

void font_free(struct font *f)
{
	if (!f)
		return;
	free(f->installed);
	free(f->glyphs);
	free(f);
}

/* ---- one glyph --------------------------------------------------------------------------------
 */

static void box(int columns, uint16_t rows[FONT_H])
{
	uint16_t whole = columns == 2 ? 0x7ffe : 0x7e00, sides = columns == 2 ? 0x4002 : 0x4200;

	for (int y = 0; y < FONT_H; y++)
		rows[y] = y == 2 || y == 13 ? whole : y > 2 && y < 13 ? sides : 0;
}

/* Halves the width of a row of pixels: a pixel is set if one of its two was. */
static uint16_t squeeze(uint16_t row)
{
	uint16_t to = 0;

	for (int x = 0; x < 8; x++)
		if (row >> (14 - 2 * x) & 3)
			to |= (uint16_t)(0x8000 >> x);
	return to;
}

bool font_glyph(const struct font *f, int32_t code, int columns, uint16_t rows[FONT_H])
{
	const char *s = code >= 0 && code < CODES ? f->glyphs[code] : NULL;
	int wide = s && digits(s) == WIDE;

	if (!s) {
		box(columns, rows);
		return false;
	}
	for (int y = 0; y < FONT_H; y++) {
		uint16_t row = 0;

		for (int i = 0; i < (wide ? 4 : 2); i++)
			row = (uint16_t)(row << 4 | digit(*s++));
		if (!wide)
			row = (uint16_t)(row << (columns == 2 ? 4 : 8));
		else if (columns == 1)
			row = squeeze(row);
		rows[y] = row;
	}
	return true;
}
