/* view_review - the view in which the user keeps or takes back hunks (view_review*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/reviewed.h"
#include "tui/console/frame/ui.h"

enum review_row_kind {
	REVIEW_ROW_FILE,
	REVIEW_ROW_HUNK,
	REVIEW_ROW_LINE,
	REVIEW_ROW_POINT, /* a comment */
};

struct review_row {
	enum review_row_kind kind;
	size_t hunk;
	size_t at; /* line of struct hunks, or index of a point of struct reviewed */
};

struct review_piece { /* display state of a hunk */
	bool hidden;  /* it was kept before the view was opened */
	bool toggled; /* folded or opened by the user */
	bool points;  /* shows the text of handled comments */
};

struct review_load;

struct view_review {
	struct view v;
	bool session;	  /* reviews all steps of the session instead of one turn */
	int64_t from, to; /* steps of a selected turn; 0: the newest turn */
	char *words;	  /* description of the reviewed steps */
	int64_t *steps;	  /* the steps that are (being) read */
	size_t n_steps;
	struct review_load *load; /* being read by a worker; or NULL */
	struct hunks hunks;
	bool read;
	char why[256]; /* the error of the last read; or "" */
	struct review_piece *pieces;
	struct review_row *rows;
	size_t n_rows;
	uint64_t seen; /* model.version when the rows were built */
	struct list list;
	bool all;	    /* includes hunks that were kept earlier */
	struct buf message; /* shown before it is pasted; empty: the hunks are shown */
	struct list message_list;
	size_t commented; /* hunk + 1 of the comment that is being typed */
	int commented_line;
	uint64_t told; /* the newest model.review_said that was shown */
};

enum review_state review_state_of(const struct view_review *p, size_t hunk);
void review_build(struct view_review *p); /* makes the rows from hunks and verdicts */
void review_draw(struct view *v, struct surface *s, struct rect r, bool focused);
void review_row_text(void *view, size_t row, struct buf *out);	     /* escaped */
const struct review_row *review_row_at(const struct view_review *p); /* under the cursor; or NULL */
/* view_review_points.c */
const struct point *review_point_at(const struct view_review *p); /* NULL: no comment */
void review_comment(struct view_review *p);			  /* asks for a text */
void review_commented(struct view_review *p, const char *text);	  /* after the text was typed */
/* Shows the message; the second time, sends it. Returns whether it is shown; if not, p may be
 * freed. */
bool review_send(struct view_review *p);
bool review_reopen(struct view_review *p); /* false: no handled comment under the cursor */
/* view_review_load.c */
void review_reload(struct view_review *p); /* if the steps to review have changed */
void review_load_abandon(struct view_review *p);
