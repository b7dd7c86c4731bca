/* font - a bitmap font: the pixels of a character in a terminal's cell. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Life:   font_new() -> font_glyph() ... -> font_free().
 * Has:    the shipped part of GNU Unifont (tui/look/unifont.hex): Latin, Greek, Cyrillic, kana,
 *         arrows, mathematics, technical signs, boxes, blocks, braille, dingbats.
 *         Other glyphs of the Basic Multilingual Plane come from a whole Unifont, if installed.
 * Format: lines "0041:00000000182424...": a character in hexadecimal, and 16 rows of 8 or of 16
 *         pixels. Other lines are passed over.
 * Threads: one at a time.
 */
#define FONT_W 8
#define FONT_H 16
/* The path in Debian's package unifont. */
#define FONT_INSTALLED "/usr/share/unifont/unifont.hex"

struct font;

struct font *font_new(const char *installed) MUST_USE; /* NULL or a file, which may be missing */
void font_free(struct font *f);			       /* NULL is a no-op */

/* Writes 16 rows of `columns` (1 or 2) times 8 bits; the highest bit is the left pixel. A wider
 * glyph is squeezed, a narrower one is centred. Returns false if the font lacks the character: rows
 * is then the outline of a box. */
bool font_glyph(const struct font *f, int32_t code, int columns, uint16_t rows[FONT_H]);
