/* layout - which pane is where: a pure function of size, focus and zoom. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/layout.h"

#include "core/base/util.h"

static void place(struct layout *l, enum pane p, struct rect r)
{
	l->title[p] = (struct rect){r.x, r.y, r.w, MIN(1, r.h)};
	l->pane[p] = (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)};
}

/* Agent left with at least 80 columns, lists right: activity gets a bit more than steps. */
static void place_wide(struct layout *l)
{
	struct rect b = l->body;
	int left = MAX(80, b.w * 64 / 100);
	int right = b.w - left - 1, top = b.h * 55 / 100;

	place(l, PANE_TERMINAL, (struct rect){b.x, b.y, left, b.h});
	l->divider = (struct rect){b.x + left, b.y, 1, b.h};
	place(l, PANE_AUDIT, (struct rect){b.x + left + 1, b.y, right, top});
	place(l, PANE_STEPS, (struct rect){b.x + left + 1, b.y + top, right, b.h - top});
}

/* Agent on top over the full width, lists side by side below. */
static void place_stacked(struct layout *l)
{
	struct rect b = l->body;
	int low = MIN(MAX(6, b.h * 32 / 100), 14), left = b.w * 56 / 100;
	int y = b.y + b.h - low;

	place(l, PANE_TERMINAL, (struct rect){b.x, b.y, b.w, b.h - low});
	place(l, PANE_AUDIT, (struct rect){b.x, y, left, low});
	l->divider_low = (struct rect){b.x + left, y, 1, low};
	place(l, PANE_STEPS, (struct rect){b.x + left + 1, y, b.w - left - 1, low});
}

struct layout layout_compute(int w, int h, enum pane focus, bool zoom)
{
	struct layout l = {.mode = LAYOUT_TOO_SMALL, .body = {0, 0, w, h}};

	if (w < LAYOUT_MIN_W || h < LAYOUT_MIN_H)
		return l;
	l.body.h = h - 2;
	l.hints = (struct rect){0, h - 2, w, 1};
	l.status = (struct rect){0, h - 1, w, 1};
	if (!zoom && w >= LAYOUT_WIDE_W && h >= LAYOUT_STACK_H) {
		l.mode = LAYOUT_WIDE;
		place_wide(&l);
	} else if (!zoom && w >= LAYOUT_STACK_W && h >= LAYOUT_STACK_H) {
		l.mode = LAYOUT_STACKED;
		place_stacked(&l);
	} else {
		l.mode = LAYOUT_TABS;
		place(&l, focus, l.body);
		l.tabs = l.title[focus];
		l.title[focus].h = 0;
	}
	return l;
}
