/* worktree_fill_priv - the state of a copy into a new worktree (worktree_fill*.c only). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/text.h"
#include "tui/commands/here.h"
#include "tui/commands/standing.h"
#include "tui/commands/worktree_fill.h"
#include "tui/commands/worktree_put.h"

struct inode {
	dev_t dev;
	ino_t ino;
};

struct fill {
	struct put put;
	char *from, *to;
	struct here at;	      /* of the current directory */
	struct here rules_of; /* the source, for `rules`; borrowed */
	struct standing rules;
	struct buf left; /* paths left out, each with its NUL: the first of n_left */
	size_t n_left;
	bool searched;	       /* the source was searched for secrets: */
	struct inode *secrets; /* files that a session there may not read */
	size_t n_secrets;
};

/* Returns whether a session in the source may read the path: no secret, nothing hidden. */
bool fill_may(const struct fill *f, const char *path);
/* Lists a path as left out if its result is not 0. Returns 0, or an error of the disk with a
 * message. */
int fill_result(struct fill *f, const char *path, int r, struct err *err) MUST_USE;
