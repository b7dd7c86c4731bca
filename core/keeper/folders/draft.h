/* draft - a new git pointer file or config gets its name once it is complete and harmless. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/folders/judge.h"

struct keeper;

/*
 * `git worktree add` and `git submodule add` write a new file ".git", "commondir" or "gitdir" in
 * place, other programs a new config, so the content is not known at the open. The caller gets a
 * file without a name (O_TMPFILE) to write to. At the first call of any process after the last
 * writer has closed it, the keeper reads the file. A harmless one is linked to its name, in the
 * step of the process that opened it. About any other the user is asked, and the next change of
 * that process waits for the answer; if no user can be asked, the file is dropped and that is
 * reported. No process sees the name before the link; git reads it only afterwards.
 *
 * Life: draft_open() ... drafts_settle() or drafts_done().
 */

/* Returns a descriptor, or -EOPNOTSUPP: the file system has no O_TMPFILE, or there are too many
 * drafts. */
int draft_open(const struct wish *w, int flags, mode_t mode) MUST_USE;
/* by: the current caller. Its step takes the drafts of processes that have ended. */
void drafts_settle(struct keeper *k, const struct caller *by);
/* Returns 0, or -FOLDER_HELD if this call waits for the answer about a draft of its process, or of
 * the process that started it. */
int drafts_hold(struct keeper *k, const struct caller *c);
void drafts_done(struct keeper *k); /* drops the remaining drafts */
