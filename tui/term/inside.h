/* inside - state and functions that the files of tui/term share; only they include it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <vterm.h>

#include "tui/term/extra.h"
#include "tui/term/glyph.h"
#include "tui/term/scrollback.h"
#include "tui/term/snapshot.h"
#include "tui/term/term.h"

#define SIEVE_ARGS	 32 /* parameters of one sequence; the rest is dropped */
#define SIEVE_ARG_MAX	 9999
#define SIEVE_STRING_MAX 2400 /* bytes of a title before escaping, or of a link */
#define SIEVE_STAGE	 4096
#define REPLIES_MAX	 4096	/* bytes of answers to one term_feed() */
#define HOLD_US		 100000 /* longest time that mode 2026 keeps a repaint back */
#define SIEVE_COST	 32	/* such sequences take 2 ms at 200x50 */
#define MARKS_MAX	 3	/* combining marks on one cell, beside an extra */

/*
 * A sequence that changes nothing, after which libvterm puts a cursor that a resize left outside
 * of the screen back into it.
 */
#define CLAMP_CURSOR "\033[1g"

/* Meanings of a cell's font: pen.c and wrap.c set it, cells.c reads it. */
enum {
	FONT_DIM = 1,
	FONT_CONCEAL = 2,
	FONT_WRAP = 3, /* the last of a row that goes on in the next; the first two may be added */
	FONT_PAD = 6,  /* the same; the cell is a blank because a wide character did not fit */
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

/* Style of the next text, as the agent has set it. */
struct pen {
	uint32_t fg, bg; /* COLOR_* */
	bool bold, dim, italic, blink, reverse, conceal, strike;
	uint8_t underline;   /* 0: none; else 1 + enum underline */
	uint32_t line, link; /* as in struct style */
};

struct charset {
	bool graphics[2]; /* G0, G1 are the line-drawing set */
	bool shifted;	  /* G1 is in use */
};

/* See sieve.c: the agent's bytes on their way to libvterm. */
struct sieve {
	enum sieve_state state;
	char leader, intermed;
	bool arg_open; /* the last parameter has digits */
	unsigned nargs;
	int arg[SIEVE_ARGS];	/* -1: left out */
	bool colon[SIEVE_ARGS]; /* the parameter was introduced by ':' */
	char string_kind;
	bool string_bell; /* it ended with BEL */
	char string[SIEVE_STRING_MAX];
	size_t string_len;
	bool string_cut; /* there was more */
	struct buf clip; /* OSC 52: all of the string; else empty */

	char utf8[4];
	unsigned utf8_len;
	int32_t mark[MARKS_MAX]; /* on the last character */
	unsigned marks;
	int32_t last;	/* for REP; 0: nothing to repeat */
	unsigned extra; /* number of the last character's */
	bool joins;	/* a joiner came after it */
	bool wide;	/* the last character has two columns */

	/* See wrap.c. */
	int col;   /* column of the next character; -1: ask libvterm */
	bool full; /* the row is full: the next character wraps */
	struct pen full_pen;

	/* State of libvterm that it does not report. */
	struct pen pen, saved_pen;
	struct charset charset, saved_charset;
	bool region, insert, origin, nowrap, tabs, newline;

	unsigned cost; /* sequences that may touch all cells, since the last look at the clock */
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

/* See copy.c. */
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
	unsigned n; /* the newest is flags[n - 1]; 0: legacy keys */
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
	bool bell, calls;	     /* in this feed */
	struct keyboard keyboard[2]; /* of the main screen, of the alternate one */
	int64_t held_until; /* mode 2026: the agent is in the middle of a repaint; 0: it is not */
	uint32_t color[2];  /* of text and background, for answers to OSC 10 and 11 */
	size_t replied;	    /* bytes of answers in this feed */
	bool typing;	    /* output is encoded input, not an answer */
	bool sent;	    /* output() was called */
	bool pressed;	    /* a mouse button went down inside of the pane */
	bool paste_cr;	    /* the last pasted byte was a carriage return */
	size_t drop_push;   /* next lines from libvterm to drop: the history has them already */
	bool resizing;	    /* all lines that libvterm pushes out are in the history already */

	/* The main screen while the alternate one is shown, and the place of the view
	 * (reflow.c). */
	struct kept *kept;
	struct anchor {
		bool valid; /* no output has come since */
		uint64_t line;
		int col;
		size_t empty; /* rows at the bottom */
	} anchor;
	struct bulk_break *breaks;
	char title[TERM_TITLE_MAX];

	/* For snapshots, once they are asked for (snapshot.c). */
	const struct snapshot_filter *filter;
	struct under *under;
	int saved_row, saved_col, saved_shape;
	bool saved_visible;

	/*
	 * Lines have absolute numbers: the oldest in the history is first_line, the screen's first
	 * row is first_line + history.count. The view is the number of its first line.
	 */
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
struct span term_row(struct term *t, int row); /* encode one row of the screen */

/* view.c */
struct span term_line(struct term *t, uint64_t line); /* valid until the next call */
uint64_t term_top(const struct term *t);	      /* the view's first line */
uint64_t term_end(const struct term *t);	      /* one past the last line */
void term_show_line(struct term *t, uint64_t line);
void term_forget_history(struct term *t);

/* sieve.c */
/* Feeds bytes; stops early, after an expensive sequence, if the deadline has passed. Returns the
 * bytes taken. */
size_t sieve_feed(struct term *t, const char *bytes, size_t len, int64_t deadline);
void sieve_flush(struct term *t);
void sieve_emit(struct term *t, const void *bytes, size_t len);
void sieve_fmt(struct term *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool sieve_plain(const struct term *t); /* text is text, and scrolls the whole screen */
void sieve_arg(struct sieve *s, unsigned char c);
void sieve_cp(struct term *t, int32_t cp); /* emits it */
/* The same with an extra, in one piece. */
void sieve_glyph(struct term *t, int32_t cp, unsigned extra);
void sieve_reset_margins(struct term *t);

/* cluster.c */
void cluster_put(struct term *t, int32_t cp); /* prints it; -1: no code point */

/* wrap.c */
void wrap_lost(struct term *t); /* the cursor may have moved */
void wrap_before(struct term *t, int width);
void wrap_after(struct term *t, int width);
size_t wrap_run(struct term *t, const char *ascii, size_t len); /* emits it; len > 0 */

/* reflow.c */
void reflow_resize(struct term *t, int rows, int cols);
void reflow_keep(struct term *t); /* the alternate screen is shown next */
/* The alternate screen was left. restored: the cursor goes back to its place before. */
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
#define KEYBOARD_PLAIN 1 /* of the flags: keys without ambiguity */
void respond_keyboard(struct term *t, char leader, int first, int second);
bool term_keys_are_plain(const struct term *t);
void respond_output(const char *bytes, size_t len, void *user);

/* snapshot.c */
void snapshot_done(struct term *t);
void snapshot_leaves_main(struct term *t); /* the alternate screen is shown next */
void snapshot_resized(struct term *t);
void snapshot_saves_cursor(struct term *t);

/* bulk.c */
/* Returns the bytes that were taken by the fast path. If 0, *ret_slow: bytes to feed by the slow
 * path before the next try. */
size_t bulk_feed(struct term *t, const char *bytes, size_t len, size_t *ret_slow);

/* copy.c */
bool copy_range(struct term *t, uint64_t line, int *from, int *to); /* columns, both selected */
void term_copy_match(struct term *t);				    /* to where the search is */

/* search.c */
void search_done(struct search *s);
/* Returns the offset of the needle in text at or after from; -1: none. */
long search_in(const struct search *s, struct span text, size_t from);
