/* list - cursor, scrolling, search and filter, shared by all lists of the console. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "tui/look/action.h"
#include "tui/look/input.h"
#include "tui/look/surface.h"

struct ui;

#define LIST_QUERY 128

struct list {
	size_t cursor, top;
	size_t page; /* rows at the last drawing */
	bool follow; /* the cursor stays on the last row */
	bool tails;  /* new rows are appended: a cursor moved to the end follows them */
	bool chosen; /* the user selected this row, and it still exists */
	char search[LIST_QUERY], filter[LIST_QUERY];
	size_t origin;	/* start of the search */
	struct rect at; /* rectangle of the last list_draw() */
};

/* Appends a row's text for searches, escaped. */
typedef void (*list_text)(void *data, size_t row, struct buf *out);

/* Keeps cursor and top within count rows, `page` of which are shown. */
void list_fit(struct list *l, size_t count, int page);
bool list_act(struct list *l, enum action a, size_t count); /* up, down, pages, ends */
void list_scroll(struct list *l, int rows, size_t count);   /* wheel */
/* Sets the needle and moves to the first match at or after the cursor; wraps around. */
bool list_search(struct list *l, const char *needle, size_t count, list_text text, void *data);
bool list_search_next(struct list *l, bool back, size_t count, list_text text, void *data);
/* Draws, and handles keys and mouse, for a view that is one list. `draw` draws an existing row. */
typedef void (*list_row)(void *data, struct surface *s, struct rect line, size_t row);
void list_draw(struct list *l, struct surface *s, struct rect r, bool focused, size_t count,
	       const char *empty, list_row draw, void *data);
/* Handles moves, and the next and previous match. */
bool list_keys(struct list *l, struct ui *ui, enum action a, size_t count, list_text text,
	       void *data);
void list_mouse(struct list *l, const struct mouse *m, struct rect r, size_t count);
/* Writes "filter: words (3)" or "3 of 7". Returns false if there is neither. */
bool list_note(const struct list *l, size_t count, char *out, size_t size);
/* Returns whether text has every word, in either case, and no word of a !word. "" matches all. */
bool list_match(const char *filter, const char *text);
