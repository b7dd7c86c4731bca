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
	struct edit *list; /* a hash, by path */
	size_t more;	   /* beyond what is collected */
};

/* path: below the folder, copied. made: it was not there before. */
void edits_note(struct edits *in, const char *path, bool made);
/* Note them as one barrier, tell cordon, and forget them. What came and went within the moment was
 * somebody's temporary file. */
void edits_settle(struct keeper *k, struct edits *in);
void edits_clear(struct edits *in);
