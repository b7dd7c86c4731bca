/* diff_rows - the lines of a review as rows of the screen: columns, wraps, folds, blanks. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/views/review.h"

/*
 * Life: zeroed -> diff_rows_build() after each change of the review or the look ->
 *       diff_rows_done(). A row refers to lines by index + 1; 0: none.
 * Cost: linear in the lines; with `blank` quadratic in each block, up to BLOCK_MAX.
 */
struct diff_look {
	bool split, wrap, blank; /* blank: lines that differ only in blanks are equal */
	int cols;		 /* width of the text of one side */
};

#define COL_OVER UINT32_MAX /* this side has no more text */

struct diff_row {
	uint32_t left, right;	      /* one column: one of them; left for the old or only line */
	uint32_t left_col, right_col; /* column of the text at the start of the row */
	uint8_t kind;		      /* enum diff_line_kind, for display */
	bool both;		      /* two sides; else one line over the whole width */
	bool quiet;		      /* a hunk of hidden changes */
};

struct diff_rows {
	struct diff_row *list;
	size_t n, cap;
	struct diff_look look; /* of the last build, as n_lines */
	size_t lines;
	bool stale; /* a heading was folded or opened */
};

void diff_rows_done(struct diff_rows *rows);
/* Builds the rows. Returns false if review and look have not changed. */
bool diff_rows_build(struct diff_rows *rows, const struct review *r, const struct diff_look *look);
/* Returns the line of a row; the new one of two. */
size_t diff_row_line(const struct diff_row *row);
/* Returns the first row of a line, or its place if it has none. */
size_t diff_rows_find(const struct diff_rows *rows, size_t line);
/* Returns the number of lines that a heading hides when folded. */
size_t diff_rows_below(const struct review *r, size_t line);

/* Appends text escaped, with tabs expanded, from column col on. Returns the next column. */
int diff_expand(const char *text, size_t len, int col, struct buf *out);
