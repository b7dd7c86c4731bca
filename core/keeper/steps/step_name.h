/* step_name - names a step without a command by its paths: "claude: edit a, b". */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/journal.h"

struct command;
struct keeper;

struct naming {
	const struct keeper *keeper;
	const struct command *command;
	bool elsewhere; /* no change in a working folder */
	bool granted;	/* step_info.granted */
	bool edits, deletes, renames;
	struct buf paths, temporary; /* in a folder; temporary: the first temporary file */
	struct buf places, saving;   /* the same elsewhere */
	size_t n_paths, n_places;
	char *below; /* a new directory: files below need no name */
	struct buf name;
};
void naming_init(struct naming *n, const struct keeper *k, const struct command *c);
void naming_done(struct naming *n);
extern const struct step_witness naming_witness; /* with a struct naming */
