/* term - the agent's terminal pane: a libvterm screen, its scrollback, input and output. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/input.h"
#include "tui/look/surface.h"

/*
 * Life:      term_new() -> term_feed() with the agent's output, term_input() with the user's
 *            events, term_draw() when term_dirty() -> term_free().
 * Ownership: the term copies everything it keeps. Text it returns is valid until the next call.
 * Threads:   main loop only; callbacks fire inside term_feed(), term_input() and term_resize(),
 *            and must not call back into the same term.
 * Trust:     the agent's output is hostile. It only becomes cells: no byte of it reaches the user's
 *            terminal, the only answers are listed in respond.c and go to the agent's own pty, and
 *            every amount of memory has a maximum.
 */
struct term;

#define TERM_SCROLLBACK_LINES 10000
#define TERM_TITLE_MAX	      256    /* bytes with the NUL, of the escaped title */
#define TERM_CLIP_MAX	      100000 /* bytes of base64 for the clipboard */
#define TERM_MIN	      2	     /* least rows and columns, in any layout */
#define TERM_MAX	      1000

struct term_events {
	/* Bytes for the agent's pty: answers and encoded input (give them to pty_write()); may be
	 * NULL. */
	void (*output)(void *data, const void *bytes, size_t len);
	void (*bell)(void *data); /* may be NULL; at most once per term_feed() */
	/* The agent asks for attention (OSC 9 or 777); may be NULL, at most once per
	 * term_feed(). */
	void (*call)(void *data);
	void (*title)(void *data, const char *title); /* may be NULL; text as term_title() */
	/* The agent sends a text for the user's clipboard; any bytes. May be NULL. */
	void (*clipboard)(void *data, const char *text, size_t len);
};

/* on: NULL for no listener. */
struct term *term_new(int rows, int cols, const struct term_events *on, void *data) MUST_USE;
void term_free(struct term *t); /* NULL is a no-op */

void term_feed(struct term *t, const void *bytes, size_t len);
/* Like term_feed(), but stops soon after deadline (clock_mono_us()): some sequences take thousands
 * of times longer to process than to send. Returns the bytes taken; feed the rest later. */
size_t term_feed_until(struct term *t, const void *bytes, size_t len, int64_t deadline);
/* Sets the default colours of text and background, for programs that ask for them. COLOR_DEFAULT:
 * unknown. */
void term_set_colors(struct term *t, uint32_t text, uint32_t background);
/* Resizes, within TERM_MIN..TERM_MAX; the caller tells the pty (pty_resize()). Lines of screen and
 * scrollback are laid out for the new width (reflow.c); those of a full-screen program are not. */
void term_resize(struct term *t, int rows, int cols);
void term_size(const struct term *t, int *rows, int *cols);

/* Returns whether the pane has changed after the last term_draw(), and the agent is not in the
 * middle of an announced repaint (mode 2026; at most 100 ms). */
bool term_dirty(const struct term *t);
/* Returns whether the agent is in the middle of an announced repaint, however long ago it began. */
bool term_repainting(const struct term *t);
/* Paints the pane into the rectangle r of s (clipped, or padded with blanks, to r). */
void term_draw(struct term *t, struct surface *s, struct rect r);

struct term_cursor {
	int row, col; /* relative to the pane */
	enum cursor_shape shape;
};

/* Returns false while the agent hides the cursor, or the view is scrolled so that it is not
 * visible. */
bool term_cursor(const struct term *t, struct term_cursor *ret);
/* Returns the window title that the agent has set: escaped, bounded, "" if it has set none. */
const char *term_title(const struct term *t);
bool term_alt_screen(const struct term *t);  /* a full-screen program: no scrollback of its own */
bool term_wants_mouse(const struct term *t); /* the agent asked for mouse events */

/*
 * Encodes a key, a paste, a mouse event or a change of focus as the agent's modes require, and
 * passes the bytes to output(). Mouse events have screen coordinates: r is the rectangle that the
 * pane was drawn into. Returns false and sends nothing if the agent did not ask for this kind
 * (mouse, focus), or the event is outside of the pane.
 */
bool term_input(struct term *t, const struct event *ev, struct rect r);

/*
 * The view. It follows the last line until it is scrolled back; then it stays on the same lines
 * while new ones arrive. Typing does not move it; the caller may.
 */
void term_scroll(struct term *t, long lines); /* > 0 towards older lines; clamped */
void term_scroll_end(struct term *t);
size_t term_scrolled(const struct term *t); /* lines below the view; 0: at the end */
size_t term_history(const struct term *t);  /* lines in the scrollback */

/* Searches scrollback and screen for plain text; case counts only if the needle has a capital.
 * Every visible match is highlighted, the current one more. Returns whether there is a match, and
 * moves the view to it. Without a match the view stays. "" or NULL ends the search. */
bool term_search(struct term *t, const char *needle); /* starts at the newest match */
bool term_search_next(struct term *t, bool older);    /* wraps around */
/* Returns the number of matches (counted again after changes) and which one is current, from 1. */
size_t term_search_count(struct term *t, size_t *ret_current);

/* Copy mode: a cursor of its own in scrollback and screen, which the view follows. A search moves
 * it to the match. A change of size ends the selection. */
enum copy_kind {
	COPY_NONE,
	COPY_CHARS, /* from one cell to another, as text runs */
	COPY_LINES, /* whole lines, with all their rows */
	COPY_BLOCK, /* a rectangle */
};

enum copy_move {
	COPY_UP,
	COPY_DOWN,
	COPY_LEFT,
	COPY_RIGHT,
	COPY_TOP,
	COPY_BOTTOM,
	COPY_LINE_START,
	COPY_LINE_TEXT, /* the first character that is not blank */
	COPY_LINE_END,
	COPY_WORD_NEXT,
	COPY_WORD_END,
	COPY_WORD_PREV,
};

#define COPY_MAX ((size_t)1 << 20) /* about the most bytes that are copied */

void term_copy(struct term *t, bool on); /* on: at the agent's cursor; off: the view follows */
bool term_copying(const struct term *t);
void term_copy_move(struct term *t, enum copy_move move, long n); /* n: rows up or down */
void term_copy_at(struct term *t, int row, int col);		  /* relative to the pane */
bool term_copy_cursor(struct term *t, int *row, int *col);	  /* false: not in view */
/* Begins a selection at the cursor, or changes its kind; the same kind again, or none, ends it. */
void term_copy_select(struct term *t, enum copy_kind kind);
enum copy_kind term_copy_kind(const struct term *t);
bool term_copy_text(struct term *t, struct buf *out); /* appends it; false: no selection */

/* Returns the address of a cell's style.link; NULL if it was dropped. It is the agent's:
 * hostile. */
const char *term_link(const struct term *t, uint32_t link);
/* Returns the link under copy mode's cursor, or NULL. */
const char *term_copy_link(struct term *t);

/* Appends the view's lines as text (no styles, trailing blanks cut), for copying. */
void term_text(struct term *t, struct buf *out);
/* Returns whether the screen, wherever the view is, ends with a numbered menu: the agent asks. */
bool term_shows_menu(struct term *t);
/* Appends the lines of the history as text, oldest first, and empties the history. */
void term_take_history(struct term *t, struct buf *out);
