/* dump - a surface as text for golden files: the characters, then which style is where. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/look/surface.h"

#define DUMP_STYLES 62

static void trim_blanks(struct buf *out, size_t from)
{
	size_t len = out->len;

	while (len > from && out->data[len - 1] == ' ')
		len--;
	buf_truncate(out, len);
}

static void dump_color(struct buf *out, const char *what, uint32_t c)
{
	if (COLOR_IS_INDEX(c))
		buf_fmt(out, " %s %u", what, c & 0xff);
	else if (COLOR_IS_RGB(c))
		buf_fmt(out, " %s #%06x", what, c & 0xffffff);
}

static void dump_style(struct buf *out, char letter, const struct style *st)
{
	static const char *const names[] = {"bold",	 "dim",	    "italic",
					    "underline", "reverse", "strike"};

	buf_fmt(out, "%c =", letter);
	dump_color(out, "fg", st->fg);
	dump_color(out, "bg", st->bg);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (st->attr & (1u << i))
			buf_fmt(out, " %s", names[i]);
	}
	buf_ch(out, '\n');
}

/* Returns the letter of a style: '.' for plain, the others in order of appearance. */
static char style_letter(struct style *seen, size_t *n, const struct style *st)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (st->fg == 0 && st->bg == 0 && st->attr == 0)
		return '.';
	for (size_t i = 0; i < *n; i++) {
		if (seen[i].fg == st->fg && seen[i].bg == st->bg && seen[i].attr == st->attr)
			return letters[i];
	}
	if (*n == DUMP_STYLES)
		return '!';
	seen[*n] = *st;
	return letters[(*n)++];
}

void surface_dump(const struct surface *s, struct buf *out)
{
	struct style seen[DUMP_STYLES];
	size_t n = 0, mark;

	for (int y = 0; y < s->h; y++) {
		mark = out->len;
		for (int x = 0; x < s->w; x++) {
			const struct cell *c = surface_cell(s, x, y);

			if (c->width > 0)
				buf_str(out, c->text[0] ? c->text : " ");
		}
		trim_blanks(out, mark);
		buf_ch(out, '\n');
	}
	buf_str(out, "--\n");
	for (int y = 0; y < s->h; y++) {
		for (int x = 0; x < s->w; x++)
			buf_ch(out, style_letter(seen, &n, &surface_cell(s, x, y)->style));
		buf_ch(out, '\n');
	}
	for (size_t i = 0; i < n; i++)
		dump_style(out, style_letter(seen, &n, &seen[i]), &seen[i]);
	if (s->cursor.visible)
		buf_fmt(out, "cursor %d,%d\n", s->cursor.x, s->cursor.y);
}
