/* watch_edits - collects external edits that belong together, reports and records them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct keeper;
struct folder;
struct edit;

struct edits { /* of one folder; zeroed but for the folder: none */
	struct folder *folder;
	struct edit *list; /* hash by path */
	size_t more;	   /* further edits, which are only counted */
};

/* path: below the folder, copied. made: the path is new. */
void edits_note(struct edits *in, const char *path, bool made);
/* Records the collected edits as one barrier, reports them to cordon, and forgets them. A file that
 * came and went within the moment counts as temporary and is no edit. */
void edits_settle(struct keeper *k, struct edits *in);
void edits_clear(struct edits *in);
