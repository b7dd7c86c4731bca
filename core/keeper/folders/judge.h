/* judge - decides whether an operation on a name of a folder is allowed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/op.h"
#include "core/keeper/caller.h"
#include "core/policy/policy.h"

struct folder;

struct wish {
	struct folder *f;
	const struct caller *c;
	enum policy_act act;
	const struct at *at;
	const char *path;      /* absolute */
	const char *other;     /* the second name of a rename or link, for the question */
	const struct at *from; /* for POLICY_VET: its content takes the name */
	const char *target;    /* target of the symbolic link that takes the name */
	bool creates;	       /* the name may be missing */
	bool must_be_new;      /* EEXIST otherwise */
	bool may_draft;	       /* JUDGE_DRAFT is an acceptable result */
	bool truncates;	       /* the old content is discarded */
};

/* Writes the absolute path. For "." and ".." (which the kernel refuses) it is the path of the
 * directory. */
void judge_path(struct buf *out, const struct folder *f, const struct at *at);
/*
 * Returns whether the path is in the undo store, which is hidden from the agent, or at a path where
 * the agent could plant a store for a later start.
 */
bool judge_in_store(const struct folder *f, const char *path);
/* The open is allowed if the written content proves harmless: draft.h. */
#define JUDGE_DRAFT 1
/* Returns the largest content in bytes that is vetted before a file takes the name; 0: none. */
size_t judge_largest(enum policy_content content);
/* Returns 0 or the operation's negative result: -FOLDER_HELD if the user is asked. */
int judge(const struct wish *w) MUST_USE;
/* Judges another name of a protected file like the protected name itself. */
int judge_alias(const struct wish *w) MUST_USE;
/* Judges the creation of a file of this mode: -EACCES for a FIFO in a git directory. */
int judge_pipe(const struct folder *f, const struct caller *c, mode_t mode, const char *path)
	MUST_USE;
int judge_move(struct folder *f, const struct caller *c, const struct at *from,
	       const char *from_path, const struct at *to, const char *to_path, bool new) MUST_USE;
