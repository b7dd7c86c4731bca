/* cluster - prints a code point: alone, as a mark, or joined to the character before it. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <utf8proc.h>
#include <string.h>

/* Finds the cell of the last character. Returns false if the character is not there any more. */
static bool find_last(struct term *t, int width, VTermPos *ret)
{
	VTermScreenCell cell;
	VTermPos pos;

	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &pos);
	for (int back = 0; back <= width; back += width) {
		*ret = (VTermPos){.row = pos.row, .col = pos.col - back};
		if (ret->col >= 0 && (back || ret->col + width >= t->cols) &&
		    vterm_screen_get_cell(t->screen, *ret, &cell) &&
		    cell.chars[0] == (uint32_t)t->sieve.last)
			return true;
	}
	return false;
}

/*
 * Makes a code point a part of the character before it, which is printed again as both: emoji that
 * a joiner joins, skin tones, marks that libvterm takes for characters. Returns false if they
 * cannot be joined.
 */
static bool join(struct term *t, int32_t cp, bool joiner)
{
	struct sieve *s = &t->sieve;
	const struct extra *had = extras_at(&t->extras, s->extra);
	struct extra e = had ? *had : (struct extra){0};
	size_t len = strlen(e.cluster);
	unsigned extra;
	VTermPos pos;

	if (!len) {
		len = glyph_utf8(glyph_unalias(s->last), e.cluster);
		for (unsigned i = 0; i < s->marks && len + 4 <= CLUSTER_MAX; i++)
			len += glyph_utf8(s->mark[i], e.cluster + len);
	}
	if (len + 3 + 4 > CLUSTER_MAX || !find_last(t, s->wide ? 2 : 1, &pos))
		return false;
	if (joiner)
		len += glyph_utf8(EXTRA_JOINER, e.cluster + len);
	len += glyph_utf8(cp, e.cluster + len);
	e.cluster[len] = '\0';
	extra = extras_add(&t->extras, &e);
	if (!extra)
		return false;
	s->extra = extra;
	sieve_fmt(t, "\033[%dG", pos.col + 1);
	sieve_glyph(t, s->last, extra);
	return true;
}

/* Returns whether a code point of two columns has become a part of the character before it. */
static bool joins_last(struct term *t, int32_t cp)
{
	struct sieve *s = &t->sieve;
	bool joiner = s->joins;
	enum glyph_class last;

	s->joins = false;
	if ((!joiner && !EXTRA_TONE(cp)) || !s->last || s->marks)
		return false;
	last = glyph_class(t->glyphs, glyph_unalias(s->last));
	return (last == GLYPH_WIDE || last == GLYPH_ALIAS) && join(t, cp, joiner);
}

/* Prints Hangul as syllables, as every terminal does. */
static bool compose(struct term *t, int32_t cp)
{
	struct sieve *s = &t->sieve;
	utf8proc_int32_t both[2] = {glyph_unalias(s->last), cp};
	VTermPos pos;

	if (s->marks ||
	    utf8proc_normalize_utf32(both, 2, UTF8PROC_STABLE | UTF8PROC_COMPOSE) != 1 ||
	    !find_last(t, 2, &pos))
		return false;
	s->last = both[0];
	sieve_fmt(t, "\033[%dG", pos.col + 1);
	sieve_glyph(t, s->last, s->extra);
	return true;
}

/* Returns whether a selector may attach: it chooses between two pictures of a sign or of a keycap's
 * digit. */
static bool may_attach(const struct sieve *s, int32_t cp)
{
	const bool selector = cp == 0xfe0e || cp == 0xfe0f;

	return s->last && (!selector || s->last > 0x7f || (s->last >= '0' && s->last <= '9') ||
			   s->last == '#' || s->last == '*');
}

static bool has_cluster(const struct term *t)
{
	const struct extra *e = extras_at(&t->extras, t->sieve.extra);

	return e && *e->cluster;
}

/* Adds a combining mark. libvterm adds it to the character before, except if that filled the row
 * and came in an earlier piece of input: then the character is printed again, with its marks. */
static void put_mark(struct term *t, int32_t cp)
{
	struct sieve *s = &t->sieve;
	VTermScreenCell cell;
	VTermPos pos;

	/* A mark without a character would be a cell without width. */
	if (!s->last || s->marks >= MARKS_MAX)
		return;
	if (has_cluster(t)) {
		join(t, cp, false);
		return;
	}
	s->mark[s->marks++] = cp;
	sieve_flush(t);
	vterm_state_get_cursorpos(t->state, &pos);
	if ((s->col < 0 ? pos.col + 2 >= t->cols : s->full) &&
	    vterm_screen_get_cell(t->screen, pos, &cell) && cell.chars[0] == (uint32_t)s->last) {
		sieve_fmt(t, "\033[%dG", pos.col + 1);
		sieve_glyph(t, s->last, s->extra);
		for (unsigned i = 0; i + 1 < s->marks; i++)
			sieve_cp(t, s->mark[i]);
	}
	sieve_cp(t, cp);
}

void cluster_put(struct term *t, int32_t cp)
{
	struct sieve *s = &t->sieve;
	int width = 1;

	switch (glyph_class(t->glyphs, cp)) {
	case GLYPH_DROP:
	case GLYPH_UNKNOWN:
		t->sieve.joins |= cp == EXTRA_JOINER;
		return;
	case GLYPH_MARK:
		put_mark(t, cp);
		return;
	case GLYPH_ATTACH:
		if (may_attach(&t->sieve, cp) && !compose(t, cp))
			join(t, cp, false);
		return;
	case GLYPH_REPLACE:
		cp = 0xfffd;
		break;
	case GLYPH_ALIAS:
	case GLYPH_WIDE:
		if (joins_last(t, cp))
			return;
		if (glyph_class(t->glyphs, cp) == GLYPH_ALIAS)
			cp = glyph_alias(cp);
		width = 2;
		break;
	case GLYPH_WIDER:
		width = 2;
		break;
	case GLYPH_NARROW:
		break;
	}
	wrap_before(t, width);
	s->marks = 0;
	s->joins = false;
	s->last = cp;
	s->wide = width == 2;
	s->extra = pen_extra(t, &s->pen, "");
	sieve_glyph(t, cp, s->extra);
	wrap_after(t, width);
}
