/* view - a pane or a popup: paints the model, turns actions into verbs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/action.h"
#include "tui/look/input.h"
#include "tui/look/surface.h"

struct ui;
struct view;

enum query {
	QUERY_SEARCH,
	QUERY_FILTER,
	QUERY_TIME,    /* of a replay */
	QUERY_COMMENT, /* of a review: called once, with the whole text; "": cancelled */
	QUERY_NOTE,    /* to the agent, about a denial */
};

/*
 * Threads: main loop. draw() may change the view's own scroll position so that it fits, but nothing
 * else. A popup frees itself by ui_pop(); panes live as long as the ui.
 */
/* The keys of "everywhere" that a view handles; `query` implies search and filter. */
enum {
	DOES_MOVE = 1, /* up, down, pages, ends */
	DOES_ENDS = 2, /* ends only */
	DOES_SIDEWAYS = 4,
	DOES_OPEN = 8,
	DOES_ALONE = 16, /* keys of other places do nothing while it is open */
};

struct view_ops {
	enum place place; /* keymap section and help heading */
	/* Returns the popup's rectangle in the body; NULL: all of it. NULL for panes. */
	struct rect (*size)(struct view *v, struct rect body);
	void (*draw)(struct view *v, struct surface *s, struct rect r, bool focused);
	bool (*act)(struct view *v, enum action a); /* false: not handled */
	/* Writes a note after the title of a pane ("filter: x", "3 of 120"); may be NULL. */
	void (*note)(struct view *v, char *out, size_t size);
	/* Called for each change of the text after / or &. NULL: no search here. */
	void (*query)(struct view *v, enum query what, const char *text);
	bool filters;  /* & filters */
	unsigned does; /* DOES_* */
	/* Gets a key before it becomes an action; returns whether it used the key. May be NULL. */
	bool (*key)(struct view *v, const struct key *k);
	void (*mouse)(struct view *v, const struct mouse *m, struct rect r); /* may be NULL */
	/* Returns the part of r in which a drag from x, y selects; NULL: r without its frame. */
	struct rect (*part)(const struct view *v, struct rect r, int x, int y);
	void (*changed)(struct view *v); /* after a change of the model; may be NULL */
	void (*tick)(struct view *v);	 /* for popups, once a second; may be NULL */
	void (*free)(struct view *v);	 /* NULL: free(3) */
	const enum action *hints;	 /* most important first, ends with ACTION_NONE */
};

struct view {
	const struct view_ops *ops;
	struct ui *ui;
};
