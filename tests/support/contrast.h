/* contrast - measures how well a theme can be read: for its test, and for `make lint`. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/text.h"
#include "tui/look/theme.h"

static inline double contrast_channel(uint32_t v)
{
	double c = (double)(v & 0xff) / 255;

	return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878); /* sRGB, within 1 % */
}

static inline double contrast_luminance(uint32_t color)
{
	uint32_t rgb = color_rgb(color);

	return 0.2126 * contrast_channel(rgb >> 16) + 0.7152 * contrast_channel(rgb >> 8) +
	       0.0722 * contrast_channel(rgb);
}

/* Returns the contrast by WCAG 2: 1 to 21. */
static inline double contrast(uint32_t a, uint32_t b)
{
	double x = contrast_luminance(a), y = contrast_luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* Returns the least contrast of a role: text must be read, lines between panes only seen. */
static inline double contrast_least(enum role role, bool high)
{
	switch ((int)role) {
	case ROLE_BORDER:
		return high ? 7 : 1.2;
	case ROLE_DIM:
	case ROLE_BAR:
	case ROLE_TAB:
	case ROLE_EVENT_NOTE:
	case ROLE_DIFF_META:
	case ROLE_MODAL_LABEL:
	case ROLE_SYNTAX_COMMENT:
		return high ? 7 : 3;
	default:
		return high ? 7 : 4.5;
	}
}

/* Returns whether a colour is the same on every terminal: not the default or one of the first
 * sixteen. */
static inline bool contrast_is_known(uint32_t color)
{
	return COLOR_IS_RGB(color) || (COLOR_IS_INDEX(color) && (color & 0xff) >= 16);
}

/* Returns the first role with too little contrast, or -1; its contrast, and the required one. */
static inline int contrast_fault(const struct theme *t, bool high, double *ret_has,
				 double *ret_least)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct style *st = &t->roles[role];

		if (!contrast_is_known(st->fg) || !contrast_is_known(st->bg))
			continue;
		*ret_has = contrast(st->fg, st->bg);
		*ret_least = contrast_least((enum role)role, high);
		if (*ret_has < *ret_least)
			return role;
	}
	/* Code on the backgrounds of changed lines. */
	*ret_least = 2.8;
	for (int role = ROLE_SYNTAX_COMMENT; role <= ROLE_SYNTAX_TYPE; role++) {
		for (int ground = ROLE_DIFF_ADD; ground <= ROLE_DIFF_DEL; ground++) {
			if (!contrast_is_known(t->roles[role].fg) ||
			    !contrast_is_known(t->roles[ground].bg))
				continue;
			*ret_has = contrast(t->roles[role].fg, t->roles[ground].bg);
			if (*ret_has < *ret_least)
				return role;
		}
	}
	return -1;
}
