/* moment - goes from a row of the activity or a diff to its moment in the recording, and back. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/frame/ui.h"

/*
 * A replay seeks to the moment and keeps the top popup for moment_back(). A session's console runs
 * `cordon replay --at` (struct ui_verbs, moment).
 * Threads: main loop.
 */
/* Goes to a moment. path: named like in a diff or row, or NULL. wall_us: wall clock; 0: search. */
void moment_go(struct ui *ui, int64_t step, const char *path, int64_t wall_us);
/* Handles ACTION_MOMENT of the diff on top. Returns false for another action or view. */
bool moment_act(struct ui *ui, enum action a);
bool moment_back(struct ui *ui); /* returns false if there is no popup to return to */
void moment_done(struct ui *ui);
