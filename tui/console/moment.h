/* moment - from a row of the activity or a diff to its moment in the recording, and back. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/console/ui.h"

/*
 * A replay goes there itself and keeps the popup on top for moment_back(). A session's console asks
 * for `cordon replay --at` (struct ui_verbs, moment).
 * Threads: main loop.
 */
/* path: as a diff or a row names it, or NULL. wall_us: by the clock; 0: look for it. */
void moment_go(struct ui *ui, int64_t step, const char *path, int64_t wall_us);
/* ACTION_MOMENT of the diff on top; false: another action or view. */
bool moment_act(struct ui *ui, enum action a);
bool moment_back(struct ui *ui); /* false: there is nothing to go back to */
void moment_done(struct ui *ui);
