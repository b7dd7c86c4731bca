/* here - finds the working folder of the current directory, and paths in it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

struct journal;

/* Life: here_find() -> here_done(), or AUTO_HERE. It owns its strings. */
struct here {
	char *home, *state_dir, *folder;
};
#define AUTO_HERE CLEANUP(here_done)
int here_find(struct here *p, struct err *err) MUST_USE;
void here_done(struct here *p);
/* Prevents programs that a command starts outside the sandbox (core/base/external.h) from being
 * taken from `folder` (or NULL) and from places on PATH that an agent may write. */
int here_keep_out(const char *folder, struct err *err) MUST_USE;
/* Returns r, which is 0 or an error that *err describes. If the folder was renamed, its history has
 * its old name: *err names that, and 0 becomes -ENOENT. */
int here_moved(const char *folder, const char *state_dir, int r, struct err *err) MUST_USE;
/* Opens the folder's history for reading. If it has none, *err says so with `nothing`: "nothing to
 * show". NULL: words of the journal's. */
int here_open(const struct here *p, const char *nothing, struct journal **ret, struct err *err)
	MUST_USE;
/* Converts arguments from `first` on, relative to the current directory, to names relative to the
 * folder. *ret owns its strings: here_paths_done(). -EINVAL: one is outside. */
int here_paths(const struct here *p, const struct strings *args, size_t first, struct strings *ret,
	       struct err *err) MUST_USE;
/* Like here_paths(), but paths outside the folder stay absolute. */
void here_places(const struct here *p, const struct strings *args, struct strings *ret);
void here_paths_done(struct strings *paths);
