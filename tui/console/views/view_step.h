/* view_step - the view of one diff of several files (view_step*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/views/diff_rows.h"
#include "tui/console/frame/ui.h"

#define STEP_LEFT_COLS 8   /* columns per scroll to the side */
#define STEP_SIDE_W    100 /* narrower: one line on top for the files */
#define STEP_SPLIT_W   60  /* narrower: always one column */
#define STEP_TREE_W(w) MIN(40, (w) / 3)

struct tree_line {
	bool dir;
	size_t file; /* of a directory: index of its first file */
	size_t upto; /* of a directory: index after its last file */
};

struct view_step {
	struct view v;
	int64_t step;	       /* 0: edits, a merge or a range of steps */
	int64_t from, to;      /* a range; to 0: the newest. Else 0 */
	char *words;	       /* for a range: "since the session began" */
	char *folder;	       /* another session's folder; NULL: this session's */
	char *want;	       /* the file to go to when it is listed, or NULL */
	bool preview;	       /* beside the list of steps, and without keys */
	bool places;	       /* includes files outside the working folders, and git's own files */
	struct barrier edits;  /* with paths; or zeroed */
	struct review *review; /* NULL: no history */
	struct list list;      /* of rows */
	struct diff_rows rows;
	struct diff_look look;
	size_t file; /* the cursor's file; with jump, the file to go to when it is read */
	bool jump;
	bool running; /* the step was running at the last check */
	int left;     /* columns scrolled to the side */
	int cols;     /* width of the diff at the last drawing */
	bool split;   /* two columns: requested, and there is room */
	bool in_tree; /* the list of files has the focus */
	struct tree_line *tree;
	size_t n_tree, tree_files, tree_page;
};

void step_rows(struct view_step *p); /* updates the rows from the review and the look */
int step_git_rows(const struct view_step *p, int h);
struct rect view_step_part(const struct view *v, struct rect r, int x, int y);
void view_step_draw(struct view *v, struct surface *s, struct rect r, bool focused);
/* view_step_tree.c: the files by directory, at the left or instead of the diff. */
void step_tree_build(struct view_step *p);
void step_tree_draw(struct view_step *p, struct surface *s, struct rect r);
void step_tree_row(struct view_step *p, struct surface *s, struct rect line, size_t file);
bool step_tree_act(struct view_step *p, enum action a);
void step_tree_click(struct view_step *p, struct rect r, const struct mouse *m);
/* view_step_move.c: moves, folds, searches, and changes the look. */
void step_read_on(struct view_step *p);
void step_go_file(struct view_step *p, size_t file);
const struct review_line *step_line(const struct view_step *p); /* under the cursor; or NULL */
void step_search(struct view_step *p, const char *text);
bool step_move(struct view_step *p, enum action a);
void step_mouse(struct view *v, const struct mouse *m, struct rect r);
/* view_step_undo.c: undoes and restores. */
bool step_undo_act(struct view_step *p, enum action a);
bool step_refuses(struct view_step *p, enum action a); /* shows a message */
/* view_step.c */
bool step_wide(const struct view_step *p, struct rect body); /* the tree is beside the diff */
void step_want(struct view_step *p, const char *file);
void step_as_preview(struct view_step *p);
bool step_has_read(const struct view_step *p); /* whether rows were read, or there are none */
/* view_step_patch.c: copies and exports patches. */
bool step_patch_act(struct view_step *p, enum action a);
