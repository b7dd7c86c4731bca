/* kept - applies only the pieces that the user kept to the files of a commit. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/reviewed.h"

/*
 * The steps are followed from the oldest on. A kept hunk goes into a file by a merge of three
 * sides: the file before the step is the base, the result so far is ours, and the file before the
 * step with the kept hunks is theirs. A piece that the base has already changes nothing. A piece
 * that does not fit, or that is not in the folder as it was kept, is left out and counted: it needs
 * a change that was not kept, or was edited or reverted later.
 *
 * Life:    kept_gather() -> kept_done(), also after a failure.
 * Threads: as the journal handle's.
 * Bounds:  KEPT_FILE_MAX bytes of a file; larger ones are left out.
 */
#define KEPT_FILE_MAX ((size_t)64 << 20)

struct kept_side {
	bool exists;
	mode_t mode;	 /* type and permissions */
	struct buf text; /* content, or a link's target */
};

struct kept_file {
	char *path; /* relative to the folder; raw bytes */
	struct kept_side base, now;
	size_t pieces;	 /* number of kept pieces */
	size_t left_out; /* number of these that were left out */
	bool barred;	 /* its base is unreadable */
};

struct kept {
	struct kept_file *list; /* in the order of the steps; includes unchanged ones */
	size_t n;
	size_t elsewhere; /* kept pieces of files outside the folder */
};

/* Fills *ret with the base of a path, and leaves it unchanged if the file does not exist. The text
 * of *ret is BUF_INIT before. Returns 0; -EFBIG leaves the file out. */
typedef int (*kept_base)(void *data, const char *path, struct kept_side *ret, struct err *err);

/* steps: oldest first, of journal_list(j, false). */
int kept_gather(struct kept *ret, struct journal *j, const struct reviewed *v, const int64_t *steps,
		size_t n, kept_base base, void *data, struct err *err) MUST_USE;
void kept_done(struct kept *k);
/* Returns whether the gathered file differs from its base. */
bool kept_differs(const struct kept_file *f);
