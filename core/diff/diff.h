/* diff - shows the changes of a step as a unified diff: libgit2 on buffers, never a spawned git. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/journal.h"

/*
 * Runs no filter, hook, attribute, textconv or external diff, and reads no configuration: contents
 * are handed to libgit2 as buffers (git_patch_from_buffers). Binary files, and files above
 * DIFF_MAX_BYTES, are shown by size and hash; above 256 MiB by size alone. Renames and mode changes
 * as git shows them.
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

/* text is the agent's raw bytes, without the newline and the leading +/-/space. Return false to
 * stop early (-ECANCELED). */
typedef bool (*diff_on_line)(void *data, enum diff_line_kind kind, const char *text, size_t len,
			     int old_line, int new_line);

/* Returns whether this line of a header tells of a directory that was made, removed or given
 * another mode. Directories add nothing to the diffs of their files. */
bool diff_is_directory(enum diff_line_kind kind, const char *text, size_t len);
int diff_change(struct journal *j, int64_t step, const struct change *c, diff_on_line on,
		void *data, struct err *err) MUST_USE;
/* Compares two texts of one file that no step holds. Writes nothing if they are equal. */
int diff_texts(const char *path, struct span old, struct span now, diff_on_line on, void *data,
	       struct err *err) MUST_USE;
/* Returns the rest of the path below a git directory or below the part of it for one worktree;
 * NULL: the path is in none. */
const char *diff_below_git(const char *path);
/* Returns whether the path is internal data of git, not a program, a setting, or a file to be read
 * as a diff. */
bool diff_is_gits_own(const char *path);
/* Counts the added and deleted lines of one change; both are -1 if it is binary. */
int diff_count(struct journal *j, int64_t step, const struct change *c, int *ret_added,
	       int *ret_deleted, struct err *err) MUST_USE;
typedef bool (*diff_want)(void *data, const char *old_path, const char *new_path);
/* Shows the changes from before the older to after the newer of two steps, given in any order: one
 * net change per path for which `want` returns true (called before each; NULL: all). Follows
 * renames. from 0: the oldest step; to 0: the newest. */
int diff_range_paths(struct journal *j, int64_t from, int64_t to, diff_want want, diff_on_line on,
		     void *data, struct err *err) MUST_USE;
/* Does the same for the newest step. */
int diff_newest_paths(struct journal *j, diff_want want, diff_on_line on, void *data,
		      struct err *err) MUST_USE;
