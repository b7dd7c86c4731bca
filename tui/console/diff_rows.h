/* diff_rows - the lines of a review as rows of the screen: one column or two, wrapped, folded, with
 * or without changes of blanks. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/review.h"

/*
 * Life:  zeroed -> diff_rows_build() whenever the review or the look has changed ->
 *        diff_rows_done(). A row speaks of lines by index + 1; 0 is none.
 * Cost:  linear in the lines; blanks are compared in a square of each block, up to BLOCK_MAX.
 */
struct diff_look {
	bool split, wrap, blank; /* blank: a line that differs in blanks alone is no change */
	int cols;		 /* of the text of one side */
};

#define COL_OVER UINT32_MAX /* this side has ended */

struct diff_row {
	uint32_t left, right; /* of one column: left, which is the old or the only line, or right */
	uint32_t left_col, right_col; /* the column of the text at which the row begins */
	uint8_t kind;		      /* enum diff_line_kind, as it is to be shown */
	bool both;		      /* two sides: else a line over the whole width */
	bool quiet;		      /* a hunk whose changes are not shown */
};

struct diff_rows {
	struct diff_row *list;
	size_t n, cap;
	struct diff_look look; /* that they were made for, of so many lines */
	size_t lines;
	bool stale; /* a heading was folded or opened */
};

void diff_rows_done(struct diff_rows *rows);
/* Does nothing when nothing has changed. true: it has. */
bool diff_rows_build(struct diff_rows *rows, const struct review *r, const struct diff_look *look);
/* The line that a row speaks of: the new one where there are two. */
size_t diff_row_line(const struct diff_row *row);
/* The first row of a line, or where it would be. */
size_t diff_rows_find(const struct diff_rows *rows, size_t line);
/* Lines that a heading hides or would hide. */
size_t diff_rows_below(const struct review *r, size_t line);

/* Escaped, with tabs as the blanks they stand for, beginning in a column; returns the next one. */
int diff_expand(const char *text, size_t len, int col, struct buf *out);
