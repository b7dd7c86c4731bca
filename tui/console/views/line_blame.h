/* line_blame - shows the step, turn or edit that wrote a line of a diff, as a message. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/diff.h"
#include "tui/console/frame/ui.h"

/* A worker reads the history; ui_say() shows the result. The line is searched by its text near its
 * number, because the file may have changed after the diff. One at a time. */
struct blamed_line {
	const char *path; /* relative to the first folder, or absolute in another; raw */
	enum diff_line_kind kind;
	int line; /* in the file, from 1; -1: none */
	struct span text;
};
void line_blame(struct ui *ui, const struct blamed_line *l);
