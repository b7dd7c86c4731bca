/* raster - draws cells of a surface as pixels. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/font.h"
#include "tui/look/surface.h"

/* Default colours of text and background, for pages and pictures of a replay. */
#define RASTER_TEXT   0xd5dae3u
#define RASTER_GROUND 0x0c0d10u

/*
 * Draws the cells of r, which must be inside the surface, as rgb (0xRRGGBB) pixels: r.w * FONT_W in
 * a row, r.h * FONT_H rows. Bold is drawn twice, italic is slanted; underlines of all kinds,
 * strike, dim, reverse and the cursor are drawn, blinking is not. In a cell with several characters
 * the first is drawn with its combining characters.
 */
void raster_cells(const struct font *f, const struct surface *s, struct rect r, uint32_t *rgb);
