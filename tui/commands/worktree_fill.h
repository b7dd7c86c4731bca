/* worktree_fill - copies files into a new worktree: uncommitted ones, ignored ones, a step's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "core/base/err.h"

/*
 * The source is a folder in which an agent may be working; the target is new. Both are opened once,
 * and every path is resolved below them without following a link: a symbolic link is copied as a
 * link. Secrets by name and hidden places, directories named .git, sockets, pipes and devices are
 * left out, and listed on standard error. File contents share blocks if the file system can.
 * Nothing is written in the source or its git directory.
 *
 * Life: zero-initialised; fill_open() -> fill_changes(), fill_ignored(), fill_as_of() in this order
 * -> fill_done(), also after a failure.
 */
struct fill;
struct standing_run;

struct fill_spec {
	const char *from, *to;		/* the two worktrees, absolute */
	const struct standing_run *run; /* for the rules of the source; or NULL */
};
int fill_open(struct fill **ret, const struct fill_spec *spec, struct err *err) MUST_USE;
void fill_done(struct fill *f); /* prints the paths that were left out */
#define AUTO_FILL CLEANUP(fill_donep)
void fill_donep(struct fill **f);

/* Makes the target's files equal to the source's: tracked files that differ from HEAD, and
 * untracked ones that git does not ignore. */
int fill_changes(struct fill *f, struct err *err) MUST_USE;
/* Copies the ignored files and directories that the setting worktree.copy names. */
int fill_ignored(struct fill *f, struct err *err) MUST_USE;
/* Reverts the changes of all steps after this one in the target: newest first, from the history of
 * the source. -ENOENT: no such step; -EBUSY: a step runs. check: changes nothing. */
int fill_as_of(struct fill *f, int64_t step, bool check, struct err *err) MUST_USE;
