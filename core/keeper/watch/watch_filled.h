/* watch_filled - files that an external program has moved or linked to protected names. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/journal/util/path_set.h"

struct keeper;
struct edits;

struct filled { /* of one folder; zeroed but for its edits: none */
	struct edits *edits;
	struct path_set paths;
};

/* Notes that a file got this name, a path below the folder, if the name is protected. */
void filled_note(struct filled *in, const char *path, bool is_dir);
/*
 * Replaces each such file that a process inside can still write to by a copy, and tells the user.
 * Must not be called while a call of the agent is performed: it makes steps.
 */
void filled_settle(struct keeper *k, struct filled *in);
