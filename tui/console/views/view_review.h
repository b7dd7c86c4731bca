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
	size_t at; /* line of struct hunks, or point of struct reviewed */
};

struct review_piece { /* display state of a hunk */
	bool hidden;  /* kept before the view was opened */
	bool toggled; /* folded or opened by hand */
	bool points;  /* handled comments show their text */
};

struct review_load;

struct view_review {
	struct view v;
	bool session;	  /* reviews all steps of the session, not one turn */
	int64_t from, to; /* of a turn that was chosen, or 0: the newest */
	char *words;	  /* description of the reviewed steps */
	int64_t *steps;	  /* the steps that are read, or were */
	size_t n_steps;
	struct review_load *load; /* a worker reads; or NULL */
	struct hunks hunks;
	bool read;
	char why[256]; /* the error of reading; or "" */
	struct review_piece *pieces;
	struct review_row *rows;
	size_t n_rows;
	uint64_t seen; /* model.version of the rows */
	struct list list;
	bool all;	    /* lists hunks that were kept earlier, too */
	struct buf message; /* shown before it is pasted; empty: the list is shown */
	struct list message_list;
	size_t commented; /* hunk + 1 that the comment being typed is about */
	int commented_line;
	uint64_t told;	   /* the last model.review_said that was shown */
	int64_t edited_us; /* the newest edit from outside: a commit may be one */
};

enum review_state review_state_of(const struct view_review *p, size_t hunk);
const char *review_sign(enum review_state v);
void review_build(struct view_review *p); /* the rows, from hunks and verdicts */
void review_draw(struct view *v, struct surface *s, struct rect r, bool focused);
void review_row_text(void *view, size_t row, struct buf *out);	     /* escaped */
const struct review_row *review_row_at(const struct view_review *p); /* the cursor; NULL: none */
/* view_review_points.c */
const struct point *review_point_at(const struct view_review *p); /* NULL: no comment */
void review_comment(struct view_review *p);			  /* asks for its text */
void review_commented(struct view_review *p, const char *text);	  /* the text was typed */
/* Shows the message; the second time, sends it. Returns whether it is shown now; if not, p may be
 * gone. */
bool review_send(struct view_review *p);
bool review_reopen(struct view_review *p); /* false: the cursor is on no handled comment */
/* view_review_load.c */
void review_reload(struct view_review *p); /* if the steps to review have changed */
void review_load_abandon(struct view_review *p);
