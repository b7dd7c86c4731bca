/* inside - state and functions that the files of tui/term share; only they include it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <vterm.h>

#include "tui/term/extra.h"
#include "tui/term/glyph.h"
#include "tui/term/scrollback.h"
#include "tui/term/snapshot.h"
#include "tui/term/term.h"

#define SIEVE_ARGS	 32 /* parameters of one sequence; more are dropped */
#define SIEVE_ARG_MAX	 9999
#define SIEVE_STRING_MAX 2400 /* bytes of a title before escaping, or of a link */
#define SIEVE_STAGE	 4096
#define REPLIES_MAX	 4096	/* bytes of answers to one term_feed() */
#define HOLD_US		 100000 /* longest time that mode 2026 delays a repaint */
#define SIEVE_COST	 32	/* this many expensive sequences take 2 ms at 200x50 */
#define MARKS_MAX	 3	/* combining marks on one cell, without an extra */

/* A sequence that changes nothing else, but after which libvterm moves a cursor that a resize left
 * outside the screen into it. */
#define CLAMP_CURSOR "\033[1g"

/* Meanings of a cell's font: pen.c and wrap.c set it, cells.c reads it. */
enum {
	FONT_DIM = 1,
	FONT_CONCEAL = 2,
	FONT_WRAP = 3, /* last character of a row that wraps; may be added to the first two */
	FONT_PAD = 6,  /* last column of a row that wraps, blank: a wide character did not fit */
};

enum sieve_state {
	SIEVE_GROUND,
	SIEVE_ESC,
	SIEVE_ESC_INTERMED,
	SIEVE_CSI,
	SIEVE_CSI_IGNORE,
	SIEVE_STRING,
	SIEVE_STRING_ESC,
};

/* Style of the next text, set by the agent. */
struct pen {
	uint32_t fg, bg; /* COLOR_* */
	bool bold, dim, italic, blink, reverse, conceal, strike;
	uint8_t underline;   /* 0: none; else 1 + enum underline */
	uint32_t line, link; /* like in struct style */
};

struct charset {
	bool graphics[2]; /* G0, G1 are the line-drawing set */
	bool shifted;	  /* G1 is in use */
};

/* State of the filter for the agent's bytes: see sieve.c. */
struct sieve {
	enum sieve_state state;
	char leader, intermed;
	bool arg_open; /* the last parameter has digits */
	unsigned nargs;
	int arg[SIEVE_ARGS];	/* -1: left out */
	bool colon[SIEVE_ARGS]; /* the parameter was introduced by ':' */
	char string_kind;
	bool string_bell; /* the string ended with BEL */
	char string[SIEVE_STRING_MAX];
	size_t string_len;
	bool string_cut; /* the string was longer */
	struct buf clip; /* the whole string of OSC 52; else empty */

	char utf8[4];
	unsigned utf8_len;
	int32_t mark[MARKS_MAX]; /* on the last character */
	unsigned marks;
	int32_t last;	/* for REP; 0: nothing to repeat */
	unsigned extra; /* number of the last character's extra */
	bool joins;	/* a joiner followed the last character */
	bool wide;	/* the last character has two columns */

	/* See wrap.c. */
	int col;   /* column of the next character; -1: ask libvterm */
	bool full; /* the row is full: the next character wraps */
	struct pen full_pen;

	/* State of libvterm that it does not report. */
	struct pen pen, saved_pen;
	struct charset charset, saved_charset;
	bool region, insert, origin, nowrap, tabs, newline;

	unsigned cost; /* sequences that may change all cells, since the clock was read last */
	char out[SIEVE_STAGE];
	size_t out_len;
};

struct search {
	char *needle;
	bool fold;
	uint64_t line; /* the current match: absolute line, byte in its text */
	size_t at;
	bool found;
};

/* See copy_mode.c. */
struct copy {
	bool on;
	enum copy_kind kind;
	uint64_t line, from_line;
	int col, from_col;
};

/* Where a row begins in a run of lines (bulk.c). */
struct bulk_break {
	size_t at;
	struct pen pen;
};

/* The kitty keyboard protocol: flags that programs have pushed, one byte each (respond.c). */
#define KEYBOARD_DEEP 16
struct keyboard {
	unsigned char flags[KEYBOARD_DEEP];
	unsigned n; /* the newest is flags[n - 1]; 0: traditional keys */
};

struct term {
	const struct term_events *on;
	void *data;
	VTerm *vt;
	VTermState *state;
	VTermScreen *screen;
	int rows, cols;

	struct glyphs *glyphs;
	struct extras extras;
	struct sieve sieve;
	struct scrollback history;
	struct line_writer writer;
	VTermScreenCell *cells; /* one row */

	bool dirty;
	bool alt, reverse, cursor_visible;
	int cursor_shape, mouse;
	bool bell, calls;	     /* requested during this feed */
	struct keyboard keyboard[2]; /* of the main screen, and of the alternate one */
	int64_t held_until; /* mode 2026: end of the delay for a repaint in progress; or 0 */
	uint32_t color[2];  /* of text and background, for answers to OSC 10 and 11 */
	size_t replied;	    /* bytes of answers in this feed */
	bool typing;	    /* output is encoded input, not an answer */
	bool sent;	    /* output() was called */
	bool pressed;	    /* a mouse button was pressed inside the pane */
	bool paste_cr;	    /* the last pasted byte was a carriage return */
	size_t drop_push;   /* lines from libvterm to drop, because the history has them */
	bool resizing;	    /* lines that libvterm pushes out are dropped: the history has them */

	/* The main screen while the alternate one is shown, and the screen's anchor (reflow.c). */
	struct kept *kept;
	struct anchor {
		bool valid; /* nothing was printed after the resize */
		uint64_t line;
		int col;
		size_t empty; /* empty rows at the bottom */
	} anchor;
	struct bulk_break *breaks;
	char title[TERM_TITLE_MAX];

	/* For snapshots, if enabled (snapshot.c). */
	const struct snapshot_filter *filter;
	struct under *under;
	int saved_row, saved_col, saved_shape;
	bool saved_visible;

	/* Lines have absolute numbers: the oldest in the history is first_line, the screen's first
	 * row is first_line + history.count. view is the number of the view's first line. */
	uint64_t first_line;
	bool follow;
	uint64_t view;
	struct search search;
	struct copy copy;
};

static inline void term_output(struct term *t, const char *bytes, size_t len)
{
	t->sent = true;
	if (t->on->output)
		t->on->output(t->data, bytes, len);
}

/* term.c */
void term_push_line(struct term *t, struct span line);
struct span term_row(struct term *t, int row); /* encodes a row of the screen */

/* view.c */
struct span term_line(struct term *t, uint64_t line); /* valid until the next call */
uint64_t term_top(const struct term *t);	      /* first line of the view */
uint64_t term_end(const struct term *t);	      /* one past the last line */
void term_show_line(struct term *t, uint64_t line);
void term_forget_history(struct term *t);

/* sieve.c */
/* Feeds bytes; stops after an expensive sequence once the deadline has passed. Returns the number
 * of bytes taken. */
size_t sieve_feed(struct term *t, const char *bytes, size_t len, int64_t deadline);
void sieve_flush(struct term *t);
void sieve_emit(struct term *t, const void *bytes, size_t len);
void sieve_fmt(struct term *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool sieve_plain(const struct term *t); /* text is printed as it is, and scrolls the whole screen */
void sieve_arg(struct sieve *s, unsigned char c);
void sieve_cp(struct term *t, int32_t cp); /* prints it */
/* Prints a code point and its extra in one piece. */
void sieve_glyph(struct term *t, int32_t cp, unsigned extra);
void sieve_reset_margins(struct term *t);

/* cluster.c */
void cluster_put(struct term *t, int32_t cp); /* prints it; -1: no code point */

/* wrap.c */
void wrap_lost(struct term *t); /* the cursor may have moved */
void wrap_before(struct term *t, int width);
void wrap_after(struct term *t, int width);
size_t wrap_run(struct term *t, const char *ascii, size_t len); /* prints it; len > 0 */

/* reflow.c */
void reflow_resize(struct term *t, int rows, int cols);
void reflow_keep(struct term *t); /* before the alternate screen is shown */
/* After the alternate screen. restored: the cursor moves back to its saved place. */
void reflow_back(struct term *t, bool restored);
void reflow_forget(struct term *t); /* drops the kept main screen */

/* sequence.c */
void sequence_csi(struct term *t, char final);
void sequence_esc(struct term *t, char final);

/* pen.c */
void pen_apply(struct sieve *s);
unsigned pen_extra(struct term *t, const struct pen *p, const char *cluster); /* "": none */
bool pen_equal(const struct pen *a, const struct pen *b);
void pen_sgr(struct term *t);
void pen_emit(struct term *t);
void pen_font(struct term *t, unsigned add); /* FONT_WRAP or 0 */
void pen_of(struct pen *p, const struct style *st);
struct style pen_style(const struct pen *p);

/* cells.c */
struct span cells_encode(struct term *t, const VTermScreenCell *cells, int cols);
uint32_t cells_colour(const VTermColor *c);

/* respond.c */
void respond_string(struct term *t);
void respond_version(struct term *t);
/* "CSI ? u", "CSI > flags u", "CSI < number u", "CSI = flags ; mode u"; -1: left out. */
#define KEYBOARD_PLAIN 1 /* a flag: unambiguous keys */
void respond_keyboard(struct term *t, char leader, int first, int second);
bool term_keys_are_plain(const struct term *t);
void respond_output(const char *bytes, size_t len, void *user);

/* snapshot.c */
void snapshot_done(struct term *t);
void snapshot_leaves_main(struct term *t); /* before the alternate screen is shown */
void snapshot_resized(struct term *t);
void snapshot_saves_cursor(struct term *t);

/* bulk.c */
/* Returns the bytes that were taken by the fast path. If 0, *ret_slow: bytes to feed by the slow
 * path before the next try. */
size_t bulk_feed(struct term *t, const char *bytes, size_t len, size_t *ret_slow);

/* copy_mode.c */
bool copy_range(struct term *t, uint64_t line, int *from, int *to); /* columns, both included */
void term_copy_match(struct term *t); /* to the current match of the search */

/* search.c */
void search_done(struct search *s);
/* Returns the offset of the needle in text at or after from; -1: none. */
long search_in(const struct search *s, struct span text, size_t from);
