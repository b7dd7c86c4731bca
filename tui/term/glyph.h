/* glyph - classifies code points: whether they become cells, and their width in libvterm. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Two width tables meet here: ours (text_cp_width, the one of the whole program) and the one inside
 * libvterm, which is older and differs from version to version. glyph_class() asks libvterm itself,
 * once per code point, by printing it on a scratch terminal. Where libvterm thinks a wide character
 * narrow, it gets another code point of the same plane offset that it knows to be wide
 * (glyph_alias), and cells are translated back when they are read.
 */
struct glyphs; /* opaque */

enum glyph_class {
	GLYPH_UNKNOWN, /* never returned */
	GLYPH_NARROW,
	GLYPH_WIDER, /* narrow, but libvterm gives it two columns: a blank follows it */
	GLYPH_WIDE,
	GLYPH_ALIAS,   /* wide, and has to be fed as glyph_alias(cp) */
	GLYPH_MARK,    /* combines with the cell before it */
	GLYPH_ATTACH,  /* the same, but libvterm takes it for a character: stored as an extra */
	GLYPH_DROP,    /* invisible or misleading: bidi controls, joiners, tags */
	GLYPH_REPLACE, /* becomes U+FFFD */
};

struct glyphs *glyphs_new(void) MUST_USE;
void glyphs_free(struct glyphs *g);
enum glyph_class glyph_class(struct glyphs *g, int32_t cp);

#define GLYPH_ALIAS_BIT 0x20000
/* Code points that get an alias are in plane 1; the alias is in the unassigned end of plane 3. */
static inline int32_t glyph_alias(int32_t cp)
{
	return cp | GLYPH_ALIAS_BIT;
}

static inline int32_t glyph_unalias(int32_t cp)
{
	return cp >= 0x3f000 && cp <= 0x3fffd ? cp & ~GLYPH_ALIAS_BIT : cp;
}

/* UTF-8 of a code point that is one; returns the bytes (1..4). */
size_t glyph_utf8(int32_t cp, char out[4]);
