/* log_rows - prints a step, or an external edit, as a row of a table or a line of JSON. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/* How the list is printed. */
struct log_look {
	bool json;
	int columns;	  /* of the terminal; 0: no limit */
	const char *here; /* the folder of the list */
	struct journal *journal;
};

/* Returns whether the step only changed files that an agent keeps for itself. */
bool log_rows_is_note(const struct step_info *s);
/* split: folders in which the step is undone if it is not undone here, or the reverse; may be
 * NULL. */
void log_rows_step(const struct step_info *s, bool undone, const char *const *split,
		   const struct log_look *look);
void log_rows_edit(const struct barrier *e, const struct log_look *look);
