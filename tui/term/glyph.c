/* glyph - classifies code points: whether they become cells, and their width in libvterm. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/glyph.h"

#include <utf8proc.h>
#include <vterm.h>

#include "core/base/text.h"

#define PAGE_BITS 8
#define PAGE_SIZE (1u << PAGE_BITS)
#define CP_END	  0x110000

struct glyphs {
	VTerm *probe;
	VTermState *state;
	uint8_t *page[CP_END >>
		      PAGE_BITS]; /* enum glyph_class, filled on first use of each code point */
};

struct glyphs *glyphs_new(void)
{
	return xcalloc(1, sizeof(struct glyphs));
}

void glyphs_free(struct glyphs *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < ARRAY_LEN(g->page); i++)
		free(g->page[i]);
	if (g->probe)
		vterm_free(g->probe);
	free(g);
}

size_t glyph_utf8(int32_t cp, char out[4])
{
	return (size_t)utf8proc_encode_char(cp, (utf8proc_uint8_t *)out);
}

/* Returns how many columns libvterm moves the cursor for the code point. */
static int vterm_width(struct glyphs *g, int32_t cp)
{
	char text[6] = "\rx";
	VTermPos pos;

	if (!g->probe) {
		g->probe = vterm_new(2, 8);
		vterm_set_utf8(g->probe, 1);
		g->state = vterm_obtain_state(g->probe);
		vterm_state_reset(g->state, 1);
	}
	vterm_input_write(g->probe, text, 2 + glyph_utf8(cp, text + 2));
	vterm_state_get_cursorpos(g->state, &pos);
	return pos.col - 1;
}

/* Classifies a code point without libvterm. */
static enum glyph_class classify(int32_t cp)
{
	switch ((int)utf8proc_category(cp)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return GLYPH_REPLACE;
	case UTF8PROC_CATEGORY_CF:
		return GLYPH_DROP;
	case UTF8PROC_CATEGORY_CO:
		return GLYPH_NARROW; /* private use: symbol fonts */
	default:
		break;
	}
	/* Fillers and variation selectors are invisible, yet not all of width 0. */
	if (cp == 0x115f || cp == 0x1160 || cp == 0x3164 || cp == 0xffa0 || cp == 0x034f ||
	    (cp >= 0xfe00 && cp <= 0xfe0d) || (cp >= 0xe0100 && cp <= 0xe01ef))
		return GLYPH_DROP;
	/* Selectors of text or emoji; vowels and final consonants of decomposed Hangul. */
	if (cp == 0xfe0e || cp == 0xfe0f || (cp > 0x1160 && cp <= 0x11ff))
		return GLYPH_ATTACH;
	switch (text_cp_width(cp)) {
	case 0:
		return GLYPH_MARK;
	case 2:
		return GLYPH_WIDE;
	default:
		return GLYPH_NARROW;
	}
}

static enum glyph_class decide(struct glyphs *g, int32_t cp)
{
	enum glyph_class ours = classify(cp);
	int theirs;

	if (ours == GLYPH_DROP || ours == GLYPH_REPLACE || ours == GLYPH_ATTACH)
		return ours;
	if (cp >= 0xf0000 && text_cp_width(cp) != 1)
		return GLYPH_REPLACE;
	theirs = vterm_width(g, cp);
	if (ours == GLYPH_MARK)
		return theirs == 0 ? GLYPH_MARK : GLYPH_ATTACH;
	if (ours == GLYPH_WIDE && theirs == 1)
		return cp >= 0x1f000 && cp <= 0x1fffd ? GLYPH_ALIAS : GLYPH_REPLACE;
	if (ours == GLYPH_NARROW && theirs == 2)
		return GLYPH_WIDER;
	return theirs < 1 ? GLYPH_REPLACE : ours;
}

enum glyph_class glyph_class(struct glyphs *g, int32_t cp)
{
	uint8_t **page;
	uint8_t *slot;

	if (cp < 0 || cp >= CP_END)
		return GLYPH_REPLACE;
	page = &g->page[cp >> PAGE_BITS];
	if (!*page)
		*page = xcalloc(1, PAGE_SIZE);
	slot = &(*page)[(size_t)cp & (PAGE_SIZE - 1)];
	if (*slot == GLYPH_UNKNOWN)
		*slot = (uint8_t)decide(g, cp);
	return (enum glyph_class) * slot;
}
