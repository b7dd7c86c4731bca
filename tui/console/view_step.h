/* view_step - one diff of several files, on the screen (view_step*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/diff_rows.h"
#include "tui/console/ui.h"

#define STEP_LEFT_COLS 8   /* scrolled at a time */
#define STEP_SIDE_W    100 /* narrower: the files are one line on top */
#define STEP_SPLIT_W   60  /* narrower: one column, whatever was chosen */
#define STEP_TREE_W(w) MIN(40, (w) / 3)

struct tree_line {
	bool dir;
	size_t file; /* or, of a directory, its first one */
	size_t upto; /* of a directory: after its last one */
};

struct view_step {
	struct view v;
	int64_t step;	  /* 0: of edits, a merge or */
	int64_t from, to; /* what the steps between them did together, to 0: all newer; else 0 */
	char *words;	  /* of that: "since the session began" */
	char *want;	  /* a file to go to when it is listed, or NULL */
	bool preview;	  /* beside the list that it belongs to: it has no keys */
	bool places;	  /* what lies outside the working folders, and git's own files, too */
	struct barrier edits;  /* with paths, or zeroed */
	struct review *review; /* NULL: there is no history to read */
	struct list list;      /* over the rows */
	struct diff_rows rows;
	struct diff_look look;
	size_t file;  /* the one that the cursor is in, or, with jump, goes to when it is read */
	bool jump;    /* */
	bool running; /* when it was looked at last */
	int left;     /* columns scrolled off */
	int cols;     /* of the diff, when it was drawn last */
	bool split;   /* into two, as it has room for them */
	bool in_tree; /* the keys are the list of files' */
	struct tree_line *tree;
	size_t n_tree, tree_files, tree_page;
};

void step_rows(struct view_step *p); /* up to date with the review and the look */
struct rect view_step_part(const struct view *v, struct rect r, int x, int y);
void view_step_draw(struct view *v, struct surface *s, struct rect r, bool focused);
/* view_step_tree.c: the files by directory, at the left or instead of the diff. */
void step_tree_build(struct view_step *p);
void step_tree_draw(struct view_step *p, struct surface *s, struct rect r);
void step_tree_row(struct view_step *p, struct surface *s, struct rect line, size_t file);
bool step_tree_act(struct view_step *p, enum action a);
void step_tree_click(struct view_step *p, struct rect r, const struct mouse *m);
/* view_step.c */
void step_go_file(struct view_step *p, size_t file);
const struct review_line *step_line(const struct view_step *p); /* the cursor's; NULL: none */
bool step_wide(const struct view_step *p, struct rect body);	/* the tree is beside the diff */
void step_want(struct view_step *p, const char *file);
void step_as_preview(struct view_step *p);
bool step_has_read(const struct view_step *p); /* there is something to see, or nothing will be */
/* view_step_patch.c: what leaves the view. */
bool step_patch_act(struct view_step *p, enum action a);
