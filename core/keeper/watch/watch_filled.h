/* watch_filled - protected names that a program outside has filled. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/journal/util/path_set.h"

struct keeper;
struct edits;

struct filled { /* of one folder; zeroed but for its edits: none */
	struct edits *edits;
	struct names paths;
};

/* Something has taken this name, below the folder. Kept if the name is protected. */
void filled_note(struct filled *in, const char *path, bool is_dir);
/*
 * Whatever is there and can still be written to by those inside is replaced by a copy, and the
 * human told. Not while a call of the agent's is performed: it makes steps.
 */
void filled_settle(struct keeper *k, struct filled *in);
