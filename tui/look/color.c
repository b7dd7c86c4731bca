/* color - converts 24-bit colours and palette indexes to the terminal's depth. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/theme.h"

/* xterm's first sixteen; the terminal's own palette may differ. */
static const uint32_t ansi[16] = {
	0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xd0d0d0,
	0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
};

static const int cube[6] = {0, 95, 135, 175, 215, 255};

uint32_t color_rgb(uint32_t color)
{
	uint32_t i = color & 0xff;

	if (COLOR_IS_RGB(color))
		return color & 0xffffff;
	if (i < 16)
		return ansi[i];
	if (i >= 232)
		return (8 + (i - 232) * 10) * 0x010101u;
	i -= 16;
	return (uint32_t)cube[i / 36] << 16 | (uint32_t)cube[i / 6 % 6] << 8 |
	       (uint32_t)cube[i % 6];
}

static int distance(uint32_t a, uint32_t b)
{
	int r = (int)(a >> 16 & 0xff) - (int)(b >> 16 & 0xff);
	int g = (int)(a >> 8 & 0xff) - (int)(b >> 8 & 0xff);
	int u = (int)(a & 0xff) - (int)(b & 0xff);

	return 2 * r * r + 4 * g * g + 3 * u * u; /* the eye sees green best */
}

static int cube_step(int v)
{
	return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

static uint32_t to_256(uint32_t rgb)
{
	int r = (int)(rgb >> 16 & 0xff), g = (int)(rgb >> 8 & 0xff), b = (int)(rgb & 0xff);
	uint32_t in_cube = 16 + 36 * (uint32_t)cube_step(r) + 6 * (uint32_t)cube_step(g) +
			   (uint32_t)cube_step(b);
	int level = (r + g + b) / 3;
	uint32_t grey = level < 8 ? 232u : level > 238 ? 255u : 232u + (uint32_t)((level - 3) / 10);

	if (distance(color_rgb(COLOR_INDEX(grey)), rgb) <
	    distance(color_rgb(COLOR_INDEX(in_cube)), rgb))
		return COLOR_INDEX(grey);
	return COLOR_INDEX(in_cube);
}

static uint32_t to_16(uint32_t rgb)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < 16; i++) {
		if (distance(ansi[i], rgb) < distance(ansi[best], rgb))
			best = i;
	}
	return COLOR_INDEX(best);
}

uint32_t color_reduce(uint32_t color, enum depth depth)
{
	if (color == COLOR_DEFAULT || depth == DEPTH_MONO)
		return COLOR_DEFAULT;
	if (depth == DEPTH_TRUE ||
	    (COLOR_IS_INDEX(color) && (depth == DEPTH_256 || (color & 0xff) < 16)))
		return color;
	return depth == DEPTH_256 ? to_256(color_rgb(color)) : to_16(color_rgb(color));
}
