/* select - text that the mouse was dragged over, in any view but the agent's terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "tui/look/input.h"
#include "tui/look/surface.h"

struct ui;
struct view;

/*
 * Cells of the screen, not lines of a list: what is shown there is what is copied, and agent text
 * is shown escaped. The agent's pane has its own (term_copy_select()), which goes beyond the
 * screen. Life:    zeroed -> select_done(). Threads: main loop.
 */
struct selection {
	const struct view *view; /* it began there; NULL: no button was pressed in one */
	struct rect part;	 /* of the screen: it does not leave that */
	int from_x, from_y, to_x, to_y;
	bool held; /* the button is down */
	bool any;  /* it was dragged */
	bool block;
	struct buf text; /* as it was drawn last */
};

/* A button went down in this part of a view. */
void select_begin(struct ui *ui, const struct view *v, struct rect part, const struct mouse *m);
bool select_mouse(struct ui *ui, const struct mouse *m); /* true: it was about the selection */
/* Copies, if there is one: the same key as in the agent's pane. Any other key ends it. */
bool select_key(struct ui *ui, const struct key *k);
void select_draw(struct ui *ui, struct surface *s); /* over everything */
void select_end(struct ui *ui);
void select_done(struct ui *ui);
