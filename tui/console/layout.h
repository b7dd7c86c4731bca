/* layout - which pane is where: a pure function of size, focus and zoom. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/surface.h"

#define LAYOUT_MIN_W   30
#define LAYOUT_MIN_H   8
#define LAYOUT_WIDE_W  110 /* lists to the right of the agent */
#define LAYOUT_STACK_W 70  /* below it; narrower: one pane and tabs */
#define LAYOUT_STACK_H 20

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
};

struct layout {
	enum layout_mode mode;
	struct rect body;	       /* everything above the two bottom rows: popups live here */
	struct rect title[PANE_COUNT]; /* one row each; empty when not shown */
	struct rect pane[PANE_COUNT];  /* below its title; empty when not shown */
	struct rect divider;	       /* the column between agent and lists; may be empty */
	struct rect divider_low;       /* the one between the two lists when stacked */
	struct rect tabs;	       /* one row; empty unless LAYOUT_TABS or zoomed */
	struct rect hints, status;     /* one row each; the agent can never draw there */
};

struct layout layout_compute(int w, int h, enum pane focus, bool zoom);
