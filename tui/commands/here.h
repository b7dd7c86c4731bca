/* here - finds the working folder of the current directory, and paths in it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "tui/commands/options.h"

/* Life: here_find() -> here_done(), or AUTO_HERE. It owns its strings. */
struct here {
	char *home, *state_dir, *folder;
};
#define AUTO_HERE CLEANUP(here_done)
int here_find(struct here *p, struct err *err) MUST_USE;
void here_done(struct here *p);
/* Keeps programs that a command starts outside the sandbox (core/base/external.h) out of `folder`,
 * NULL for none, and of all places on PATH that an agent writes. */
int here_keep_out(const char *folder, struct err *err) MUST_USE;
/*
 * Returns r, which is 0 or an error that *err describes. If the folder was renamed, its history is
 * under its old name: then *err names that, and 0 becomes -ENOENT.
 */
int here_moved(const char *folder, const char *state_dir, int r, struct err *err) MUST_USE;
/* Makes arguments from `first` on, which are relative to the current directory, relative to the
 * folder. *ret owns its strings: here_paths_done(). -EINVAL: one lies outside. */
int here_paths(const struct here *p, const struct strings *args, size_t first, struct strings *ret,
	       struct err *err) MUST_USE;
/* The same for paths anywhere: those outside the folder stay absolute. */
void here_places(const struct here *p, const struct strings *args, struct strings *ret);
void here_paths_done(struct strings *paths);
