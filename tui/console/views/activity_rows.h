/* activity_rows - the words and the drawing of a row of the activity. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/views/activity.h"
#include "tui/console/frame/ui.h"

const char *activity_kind(enum row_kind kind); /* "touch", "deny": used by filters */
/* Appends the words for a search. */
void activity_text(struct ui *ui, const struct row *r, struct buf *out);
/* Draws an item's row. all: at ACTIVITY_ALL a change shows its system call instead of its
 * result. */
void activity_draw(struct ui *ui, struct surface *s, struct rect line,
		   const struct activity_item *item, const struct row *r, bool all);
