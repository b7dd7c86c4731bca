/* glyph - classifies code points: whether they become cells, and their width in libvterm. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Two width tables meet here: cordon's (text_cp_width) and the one inside libvterm, which is older
 * and differs between versions. glyph_class() asks libvterm, once per code point, by printing it on
 * a scratch terminal. A wide character that libvterm takes for narrow is fed as another code point
 * that it takes for wide (glyph_alias), and is translated back when cells are read.
 */
struct glyphs; /* opaque */

enum glyph_class {
	GLYPH_UNKNOWN, /* never returned */
	GLYPH_NARROW,
	GLYPH_WIDER, /* narrow, but two columns to libvterm: a blank follows */
	GLYPH_WIDE,
	GLYPH_ALIAS,   /* wide, and is fed as glyph_alias(cp) */
	GLYPH_MARK,    /* combines with the cell before it */
	GLYPH_ATTACH,  /* the same, but a character to libvterm: stored as an extra */
	GLYPH_DROP,    /* invisible or misleading: bidi controls, joiners, tags */
	GLYPH_REPLACE, /* becomes U+FFFD */
};

struct glyphs *glyphs_new(void) MUST_USE;
void glyphs_free(struct glyphs *g);
enum glyph_class glyph_class(struct glyphs *g, int32_t cp);

#define GLYPH_ALIAS_BIT 0x20000
/* Returns the alias of a code point of plane 1: at the unassigned end of plane 3. */
static inline int32_t glyph_alias(int32_t cp)
{
	return cp | GLYPH_ALIAS_BIT;
}

static inline int32_t glyph_unalias(int32_t cp)
{
	return cp >= 0x3f000 && cp <= 0x3fffd ? cp & ~GLYPH_ALIAS_BIT : cp;
}

/* Writes the UTF-8 of a valid code point; returns its length (1..4). */
size_t glyph_utf8(int32_t cp, char out[4]);
