/* view_step - one diff of several files, on the screen (view_step.c and view_step_draw.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/review.h"
#include "tui/console/ui.h"

#define TAB_COLS 8

struct view_step {
	struct view v;
	int64_t step;	       /* 0: of edits or a merge */
	struct barrier edits;  /* with paths, or zeroed */
	struct review *review; /* NULL: there is no history to read */
	struct list list;      /* over diff lines; the cursor is the top line */
	size_t file;	       /* the one that the top line belongs to, or: */
	bool chosen;	       /* gone to by its key: it may begin below the top of the last page */
	bool running;	       /* when it was looked at last */
	bool jump;	       /* go to `file` as soon as it is read */
	int left;	       /* columns scrolled off */
};

/* Heap: absolute where it lies in another folder than the first. */
char *view_step_name(const struct change *c) MUST_USE;
void view_step_draw(struct view *v, struct surface *s, struct rect r, bool focused);
