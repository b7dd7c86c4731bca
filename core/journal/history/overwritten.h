/* overwritten - saves files of other processes that one step changed, before and after the edit. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct journal;

/*
 * A step writes f, the user saves f, the step writes f again: neither an undo nor a redo restores
 * the user's version. The step's log has it, in a record that is newer than the note of the edit
 * (step/edited.h). When the step ends, or a rollback of an open step begins, such versions are
 * copied to saved/NUMBER/ID, a directory as those of saved_redo.h: a redo log with a record of each
 * version, the newest first, and an undo log with the step's first record. NUMBER is the number of
 * the oldest version's record. A crash leaves either nothing there or all.
 */
#define OVERWRITTEN_FILE "overwritten" /* in that directory: tells it from an undone step */

/* dir: "open/ID". On an error, tells the user; the step can be kept all the same. */
void overwritten_save(struct journal *j, const char *dir);
