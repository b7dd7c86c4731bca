/* hunks - splits changes of steps into pieces that the user keeps or reverts one by one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "core/diff/diff.h"

/*
 * A piece is a hunk of a step's diff of one file, with the number that journal_restore_hunk()
 * takes. A change without hunks is one piece with number 0: a file that was created, removed or
 * renamed, binary content, a link. If the text of a file was edited, too, its mode and owner are a
 * separate piece, HUNK_MODE. A hunk is taken back from one step, so each step has separate pieces:
 * a line that two steps changed is in two pieces. Directories, git's own files and places
 * outside the folders are left out and counted.
 *
 * Life:    hunks_load() -> hunks_done(), also after a failure.
 * Threads: a worker may run it on a journal handle of its own.
 * Bounds:  HUNKS_MAX pieces and HUNKS_LINES lines, then `cut` is set.
 */
#define HUNKS_MAX   5000
#define HUNKS_LINES 100000
#define HUNK_MODE   UINT32_MAX

struct hunk_line {
	enum diff_line_kind kind;
	int old_line, new_line;
	uint32_t len;
	size_t at; /* of text */
};

struct hunk {
	int64_t step;
	char *path; /* absolute in another folder than the first; raw bytes */
	unsigned number;
	enum change_kind kind;
	int line; /* first line in the new file; 0: none */
	int added, deleted;
	size_t first, n; /* lines, including the heading */
};

struct hunks {
	struct hunk *list; /* by path, then step, then number */
	size_t n, left_out;
	struct hunk_line *lines;
	size_t n_lines, cap_lines;
	struct buf text;
	bool cut;
};

/* stop may be NULL. Returns -ECANCELED when it becomes true. */
int hunks_load(struct hunks *ret, struct journal *j, const int64_t *steps, size_t n,
	       const atomic_bool *stop, struct err *err) MUST_USE;
void hunks_done(struct hunks *h);
