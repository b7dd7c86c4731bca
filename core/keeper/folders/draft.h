/* draft - a new git pointer file or config gets its name once it is complete and harmless. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/folders/judge.h"

struct keeper;

/*
 * `git worktree add` and `git submodule add` write a new file ".git", "commondir" or "gitdir" in
 * place, other programs a new config, so what will be in it is not known when it is opened. The
 * caller gets a file without a name (O_TMPFILE) to write to. At the first call that anybody makes
 * when no writer has it open any more, it is read: a harmless one is linked to its name, in the
 * step of the process that opened it. About any other a human is asked, and the next change of that
 * process waits for the answer; where there is none to ask, it is dropped, and that is said. Nobody
 * sees the name before; git looks only afterwards.
 *
 * Life: draft_open() ... drafts_settle() or drafts_done().
 */

/* A descriptor; -EOPNOTSUPP: the file system has none of these, or there are too many. */
int draft_open(const struct wish *w, int flags, mode_t mode) MUST_USE;
/* by: who has just called; its step takes what a process left behind that is gone. */
void drafts_settle(struct keeper *k, const struct caller *by);
/* 0, or -FOLDER_HELD: this call waits for the answer about what its process, or the one that
 * started it, has written before. */
int drafts_hold(struct keeper *k, const struct caller *c);
void drafts_done(struct keeper *k); /* those that are left never get a name */
