/* scrollback - lines that left the screen, stored compactly: UTF-8 text and runs of style. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/look/surface.h"

/*
 * Life:    scrollback_init() -> scrollback_done().
 * Memory:  one ring of bytes that grows with its content, up to SCROLLBACK_BYTES. Past that, or
 *          past the number of lines, the oldest lines are dropped. Lines that were laid out for a
 *          narrower screen may be more: scrollback_bound() sets their number.
 * Threads: none of its own; lines are borrowed until the next push, pop or clear.
 */
#define SCROLLBACK_BYTES ((size_t)8 * 1024 * 1024)

/*
 * One row of cells, encoded: LINE_HEAD bytes (number of runs), the runs, the text. Each code point
 * of width 1 or 2 (text_cp_width) begins a cell, unless a joiner or skin tone joins it to the cell
 * before it; code points of width 0 belong to the cell before them. Trailing blanks in the default
 * style are left out; a line without runs is in the default style.
 */
struct line_run {
	uint16_t cols;
	uint16_t attr; /* STYLE_* bits */
	uint32_t fg, bg;
	uint32_t line, link;
};

#define LINE_HEAD sizeof(uint16_t)

/* Flags within the number of runs (a row has at most TERM_MAX). */
#define LINE_WRAPS  0x8000u /* the text continues in the next row */
#define LINE_PADDED 0x4000u /* the same; the last column is empty: a wide character did not fit */
#define LINE_RUNS   0x3fffu

/* Builds a line cell by cell; can be used for several lines. */
struct line_writer {
	struct buf text;
	struct buf runs;
	struct line_run run; /* the current one */
	unsigned flags;	     /* LINE_WRAPS, LINE_PADDED: set before line_end() */
	size_t text_keep;    /* length of text without trailing default blanks */
	size_t cols, cols_keep;
};

#define LINE_WRITER_INIT                                                                           \
	{                                                                                          \
		.text = BUF_INIT, .runs = BUF_INIT                                                 \
	}

void line_begin(struct line_writer *w);
/* Appends a cell: len bytes, cols columns; a blank is one space. */
void line_cell(struct line_writer *w, const char *text, size_t len, int cols,
	       const struct style *style);
/* Appends len cells of one printable ASCII character each. */
void line_ascii(struct line_writer *w, const char *text, size_t len, const struct style *style);
/* Returns the encoded line, valid until the next line_begin(). */
struct span line_end(struct line_writer *w);
void line_writer_done(struct line_writer *w);

/* Reads an encoded line. */
struct line_reader {
	const char *runs, *text, *end;
	size_t nruns;
	struct line_run run;
};

struct line_cell {
	const char *text;
	size_t len; /* in bytes, with combining marks */
	int cols;
	struct style style;
};

void line_read(struct line_reader *r, struct span line);
bool line_next(struct line_reader *r, struct line_cell *ret);
struct span line_text(struct span line);	  /* the text alone */
unsigned line_flags(struct span line);		  /* LINE_WRAPS, LINE_PADDED */
size_t line_cols(struct span line, size_t bytes); /* columns of the first bytes of its text */

struct scrollback {
	char *mem;
	size_t cap, tail; /* bytes; place of the next line */
	struct scrollback_slot {
		uint32_t at, len;
	} * slot; /* ring of so many lines */
	size_t ring, first, count;
	size_t max, bytes_max;
};

void scrollback_init(struct scrollback *sb, size_t max_lines);
void scrollback_bound(struct scrollback *sb, size_t max_lines, size_t max_bytes);
void scrollback_done(struct scrollback *sb);
void scrollback_clear(struct scrollback *sb);
/* Returns the number of oldest lines that were dropped. */
size_t scrollback_push(struct scrollback *sb, struct span line);
struct span scrollback_line(const struct scrollback *sb, size_t i); /* i = 0: the oldest */
void scrollback_pop(struct scrollback *sb);			    /* drops the newest line */
void scrollback_end_line(struct scrollback *sb); /* the newest row ends its line */
