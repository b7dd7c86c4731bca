/* diff - what a step changed, as unified text: libgit2 on buffers, never a spawned git. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/journal.h"

/*
 * Runs no filter, hook, attribute, textconv or external diff, and reads no configuration: contents
 * are handed to libgit2 as buffers (git_patch_from_buffers). Binary files, and files above
 * DIFF_MAX_BYTES, are shown by size and hash. Renames and mode changes as git shows them.
 * Threads: a worker may run it on a journal handle of its own.
 */
#define DIFF_MAX_BYTES (8u << 20)

enum diff_line_kind {
	DIFF_FILE, /* "diff a/x b/x", "rename from", "old mode" ... */
	DIFF_HUNK, /* "@@ -1,3 +1,4 @@" */
	DIFF_CONTEXT,
	DIFF_ADD,
	DIFF_DEL,
	DIFF_META, /* "Binary files differ: 3.1 KiB -> 2.0 KiB", "\ No newline at end of file" */
};

/* text is raw agent bytes without the newline and without the leading +/-/space. Return false to
 * stop early (-ECANCELED). */
typedef bool (*diff_on_line)(void *data, enum diff_line_kind kind, const char *text, size_t len,
			     int old_line, int new_line);

int diff_change(struct journal *j, int64_t step, const struct change *c, diff_on_line on,
		void *data, struct err *err) MUST_USE;
/* Two texts of one file that no step holds. Nothing is written when they are the same. */
int diff_texts(const char *path, struct span old, struct span now, diff_on_line on, void *data,
	       struct err *err) MUST_USE;
/* What git keeps for itself: no program, no setting, and nothing a human reads as a diff. */
bool diff_is_gits_own(const char *path);
/* Added and deleted lines of one change; binary: both -1. */
int diff_count(struct journal *j, int64_t step, const struct change *c, int *ret_added,
	       int *ret_deleted, struct err *err) MUST_USE;
/* From before the older to after the newer of two steps, in whatever order they are named, one net
 * change per path; renames are followed. from 0: the oldest step; to 0: the newest. */
int diff_range(struct journal *j, int64_t from, int64_t to, diff_on_line on, void *data,
	       struct err *err) MUST_USE;
/* The same for the paths that `want` (asked before each, NULL: all) says yes to. */
typedef bool (*diff_want)(void *data, const char *old_path, const char *new_path);
int diff_range_paths(struct journal *j, int64_t from, int64_t to, diff_want want, diff_on_line on,
		     void *data, struct err *err) MUST_USE;
/* The newest step, whichever that is by then. */
int diff_newest_paths(struct journal *j, diff_want want, diff_on_line on, void *data,
		      struct err *err) MUST_USE;
