/* layout - places the panes: a pure function of size, focus, zoom and the user's wishes. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/layout.h"

#include "core/base/util.h"

#define LIST_MIN_W  16
#define LIST_MIN_H  3
#define AGENT_MIN_W 20
#define AGENT_MIN_H 5
#define NUDGE_COLS  2

static void place(struct layout *l, enum pane p, struct rect r)
{
	l->title[p] = (struct rect){r.x, r.y, r.w, MIN(1, r.h)};
	l->pane[p] = (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)};
}

static bool is_hidden(const struct layout_wish *wish, enum pane p)
{
	return wish->hidden & 1u << p;
}

static int part(int whole, int percent, int usual, int least, int rest)
{
	int n = percent ? (whole * percent + 50) / 100 : usual;

	return MAX(least, MIN(n, whole - rest));
}

/* Places activity and steps, below or beside each other; one of them may be hidden. */
static void place_lists(struct layout *l, struct rect r, bool beside,
			const struct layout_wish *wish)
{
	int first;

	l->lists = r;
	if (is_hidden(wish, PANE_AUDIT)) {
		place(l, PANE_STEPS, r);
	} else if (is_hidden(wish, PANE_STEPS)) {
		place(l, PANE_AUDIT, r);
	} else if (beside) {
		first = part(r.w, wish->side, r.w * 56 / 100, LIST_MIN_W, LIST_MIN_W + 1);
		place(l, PANE_AUDIT, (struct rect){r.x, r.y, first, r.h});
		l->divider_low = (struct rect){r.x + first, r.y, 1, r.h};
		place(l, PANE_STEPS, (struct rect){r.x + first + 1, r.y, r.w - first - 1, r.h});
	} else {
		first = part(r.h, wish->side, r.h * 55 / 100, LIST_MIN_H, LIST_MIN_H);
		place(l, PANE_AUDIT, (struct rect){r.x, r.y, r.w, first});
		place(l, PANE_STEPS, (struct rect){r.x, r.y + first, r.w, r.h - first});
	}
}

/* Places the agent left, with at least 80 columns, the lists right; activity is larger than
 * steps. */
static void place_wide(struct layout *l, const struct layout_wish *wish)
{
	struct rect b = l->body;
	int left = part(b.w, wish->main, MAX(80, b.w * 64 / 100), AGENT_MIN_W, LIST_MIN_W + 1);

	place(l, PANE_TERMINAL, (struct rect){b.x, b.y, left, b.h});
	l->divider = (struct rect){b.x + left, b.y, 1, b.h};
	place_lists(l, (struct rect){b.x + left + 1, b.y, b.w - left - 1, b.h}, false, wish);
}

/* Places the agent on top, over the full width, and the lists side by side below it; in portrait
 * below each other. */
static void place_stacked(struct layout *l, const struct layout_wish *wish)
{
	struct rect b = l->body;
	bool beside = l->mode == LAYOUT_STACKED;
	int low = beside ? MIN(MAX(6, b.h * 32 / 100), 14) : b.h * 45 / 100;
	int least = beside ? LIST_MIN_H : 2 * LIST_MIN_H;
	int high = part(b.h, wish->main, b.h - low, AGENT_MIN_H, least);

	place(l, PANE_TERMINAL, (struct rect){b.x, b.y, b.w, high});
	place_lists(l, (struct rect){b.x, b.y + high, b.w, b.h - high}, beside, wish);
}

static enum layout_mode mode_of(int w, int h)
{
	if (w >= LAYOUT_WIDE_W && h >= LAYOUT_STACK_H)
		return LAYOUT_WIDE;
	if (w >= LAYOUT_STACK_W && h >= LAYOUT_STACK_H)
		return LAYOUT_STACKED;
	return h >= LAYOUT_PORTRAIT_H ? LAYOUT_PORTRAIT : LAYOUT_TABS;
}

static bool has_room(enum layout_mode mode, int w, int h)
{
	switch (mode) {
	case LAYOUT_WIDE:
		return w >= 60 && h >= 12;
	case LAYOUT_STACKED:
		return w >= 40 && h >= 16;
	case LAYOUT_PORTRAIT:
		return h >= 20;
	case LAYOUT_TABS:
		return true;
	case LAYOUT_TOO_SMALL:
	case LAYOUT_MODES:
		break;
	}
	return false;
}

struct layout layout_compute(int w, int h, enum pane focus, bool zoom,
			     const struct layout_wish *wish)
{
	static const struct layout_wish none = {0};
	struct layout l = {.mode = LAYOUT_TOO_SMALL, .body = {0, 0, w, h}};
	unsigned lists = 1u << PANE_AUDIT | 1u << PANE_STEPS;

	wish = wish ? wish : &none;
	if (w < LAYOUT_MIN_W || h < LAYOUT_MIN_H)
		return l;
	l.body.h = h - 2;
	l.hints = (struct rect){0, h - 2, w, 1};
	l.status = (struct rect){0, h - 1, w, 1};
	l.mode = zoom ? LAYOUT_TABS : has_room(wish->mode, w, h) ? wish->mode : mode_of(w, h);
	if (l.mode == LAYOUT_TABS) {
		place(&l, focus, l.body);
		l.tabs = l.title[focus];
		l.title[focus].h = 0;
	} else if (is_hidden(wish, PANE_TERMINAL)) {
		place_lists(&l, l.body, l.mode == LAYOUT_WIDE, wish);
	} else if ((wish->hidden & lists) == lists) {
		place(&l, PANE_TERMINAL, l.body);
	} else if (l.mode == LAYOUT_WIDE) {
		place_wide(&l, wish);
	} else {
		place_stacked(&l, wish);
	}
	return l;
}

const char *layout_mode_name(enum layout_mode mode)
{
	static const char *const names[LAYOUT_MODES] = {[LAYOUT_TOO_SMALL] = "by size",
							[LAYOUT_TABS] = "one pane and tabs",
							[LAYOUT_STACKED] = "lists below",
							[LAYOUT_WIDE] = "lists at the right",
							[LAYOUT_PORTRAIT] = "all below each other"};

	return names[mode];
}

/* ---- borders -------------------------------------------------------------------------------- */

static bool both_lists(const struct layout *l)
{
	return l->title[PANE_AUDIT].w > 0 && l->title[PANE_STEPS].w > 0;
}

static bool lists_beside(const struct layout *l)
{
	return l->divider_low.w > 0;
}

/* Returns whether the agent's pane is shown with lists below it. */
static bool has_lower(const struct layout *l)
{
	return l->divider.w == 0 && l->title[PANE_TERMINAL].w > 0 && l->lists.h > 0;
}

enum layout_border layout_border_at(const struct layout *l, int x, int y)
{
	if (rect_has(l->divider, x, y))
		return BORDER_MAIN;
	if (has_lower(l) && y == l->lists.y)
		return BORDER_MAIN;
	if (rect_has(l->divider_low, x, y))
		return BORDER_SIDE;
	if (both_lists(l) && !lists_beside(l) && rect_has(l->title[PANE_STEPS], x, y))
		return BORDER_SIDE;
	return BORDER_NONE;
}

static int percent(int n, int whole)
{
	return MAX(1, MIN(99, (n * 100 + whole / 2) / MAX(whole, 1)));
}

void layout_move(const struct layout *l, enum layout_border border, int x, int y,
		 struct layout_wish *wish)
{
	struct rect b = l->body, r = l->lists;

	if (border == BORDER_MAIN)
		wish->main = l->divider.w ? percent(x - b.x, b.w) : percent(y - b.y, b.h);
	else if (border == BORDER_SIDE)
		wish->side = lists_beside(l) ? percent(x - r.x, r.w) : percent(y - r.y, r.h);
}

/* Changes a percentage until the border moves: one percent may be less than a column. */
static void step(int *percent_of, int now, int whole, int by)
{
	int want = percent(now + by, whole);

	*percent_of = want == *percent_of ? want + (by > 0 ? 1 : -1) : want;
	*percent_of = MAX(1, MIN(99, *percent_of));
}

bool layout_nudge(const struct layout *l, int dx, int dy, struct layout_wish *wish)
{
	struct rect b = l->body, r = l->lists;

	if (dx && l->divider.w)
		step(&wish->main, l->divider.x - b.x, b.w, dx * NUDGE_COLS);
	else if (dx && lists_beside(l))
		step(&wish->side, l->divider_low.x - r.x, r.w, dx * NUDGE_COLS);
	else if (dy && has_lower(l))
		step(&wish->main, r.y - b.y, b.h, dy);
	else if (dy && both_lists(l) && !lists_beside(l))
		step(&wish->side, l->title[PANE_STEPS].y - r.y, r.h, dy);
	else
		return false;
	return true;
}
