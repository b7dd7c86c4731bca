/* activity_rows - a row of the activity: its words, and how it is drawn. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/views/activity.h"
#include "tui/console/frame/ui.h"

const char *activity_kind(enum row_kind kind); /* "touch", "deny": as filters name it */
/* Appends the words that a search finds. */
void activity_text(struct ui *ui, const struct row *r, struct buf *out);
/* Draws an item's row. all: at the level of single calls, which names a change by its call and not
 * by its result. */
void activity_draw(struct ui *ui, struct surface *s, struct rect line,
		   const struct activity_item *item, const struct row *r, bool all);
