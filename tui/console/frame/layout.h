/* layout - places the panes: a pure function of size, focus, zoom and the user's wishes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/surface.h"

#define LAYOUT_MIN_W	  30
#define LAYOUT_MIN_H	  8
#define LAYOUT_WIDE_W	  110 /* from here on: lists to the right of the agent */
#define LAYOUT_STACK_W	  70  /* from here on: lists below the agent; narrower: */
#define LAYOUT_STACK_H	  20
#define LAYOUT_PORTRAIT_H 36 /* all three below each other; lower: tabs */

enum pane {
	PANE_TERMINAL,
	PANE_AUDIT,
	PANE_STEPS,
	PANE_COUNT,
};

enum layout_mode {
	LAYOUT_TOO_SMALL,
	LAYOUT_TABS,
	LAYOUT_STACKED,
	LAYOUT_WIDE,
	LAYOUT_PORTRAIT,
	LAYOUT_MODES
};

/* The user's changes of the layout. Zeroed: the size alone decides. */
struct layout_wish {
	enum layout_mode mode; /* LAYOUT_TOO_SMALL: by size, also if the mode has no room */
	int main, side;	       /* percent: the agent's; the activity's beside the steps; or 0 */
	unsigned hidden;       /* bits (1 << pane); not all of them */
};

struct layout {
	enum layout_mode mode;
	struct rect body;	       /* everything above the two bottom rows; popups are inside */
	struct rect title[PANE_COUNT]; /* one row each; empty when not shown */
	struct rect pane[PANE_COUNT];  /* below its title; empty if not shown */
	struct rect divider;	       /* the column between agent and lists; may be empty */
	struct rect divider_low;       /* the column between two lists beside each other */
	struct rect lists;	       /* both lists with their titles; may be empty */
	struct rect tabs;	       /* one row; empty unless LAYOUT_TABS or zoomed */
	struct rect hints, status;     /* one row each; the agent can never draw there */
};

struct layout layout_compute(int w, int h, enum pane focus, bool zoom,
			     const struct layout_wish *wish);
const char *layout_mode_name(enum layout_mode mode);

/* Movable borders. */
enum layout_border {
	BORDER_NONE,
	BORDER_MAIN, /* between agent and lists */
	BORDER_SIDE, /* between the two lists */
};
enum layout_border layout_border_at(const struct layout *l, int x, int y);
/* Changes the wish so that the border is at x, y, or as near as possible. */
void layout_move(const struct layout *l, enum layout_border border, int x, int y,
		 struct layout_wish *wish);
/* Moves a border by a key: dx and dy are -1, 0 or 1. Returns false if no border moves that way. */
bool layout_nudge(const struct layout *l, int dx, int dy, struct layout_wish *wish);
