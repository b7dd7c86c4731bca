/* select - selection of text by the mouse, in any view but the agent's terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "tui/look/input.h"
#include "tui/look/surface.h"

struct ui;
struct view;

/*
 * A selection is of cells of the screen, not of lines of a list: it copies the text as shown, agent
 * text escaped. The agent's pane has a selection of its own (term_copy_select()), which can extend
 * beyond the screen.
 * Life:    zeroed -> select_done().
 * Threads: main loop.
 */
struct selection {
	const struct view *view; /* where it began; NULL: none */
	struct rect part;	 /* limits of the selection on the screen */
	int from_x, from_y, to_x, to_y;
	bool held; /* the button is down */
	bool any;  /* the mouse was moved: there is a selection */
	bool block;
	struct buf text; /* its text at the last drawing */
};

/* Begins a selection: a button went down in this part of a view. */
void select_begin(struct ui *ui, const struct view *v, struct rect part, const struct mouse *m);
bool select_mouse(struct ui *ui, const struct mouse *m); /* true: the event was used */
/* Copies the selection, if the key copies in the agent's pane. Any other key ends the selection. */
bool select_key(struct ui *ui, const struct key *k);
void select_draw(struct ui *ui, struct surface *s); /* above everything else */
void select_end(struct ui *ui);
void select_done(struct ui *ui);
