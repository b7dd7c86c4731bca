/* judge - whether what is about to happen to a name of a folder may happen. */
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
	const struct at *from; /* whose content takes the name, for POLICY_VET */
	const char *target;    /* of the symbolic link that takes it */
	bool creates;	       /* the name need not be there */
	bool must_be_new;      /* EEXIST otherwise */
	bool may_draft;	       /* JUDGE_DRAFT will do */
	bool truncates;	       /* nothing of what is there stays */
};

/* The absolute path of what is meant; "." and ".." (the kernel refuses them) name the directory. */
void judge_path(struct buf *out, const struct folder *f, const struct at *at);
/*
 * The undo store does not exist for the agent, and where there is none in the folder the agent must
 * not make one for a later start to find.
 */
bool judge_in_store(const struct folder *f, const char *path);
/* Allowed when what is written turns out to be harmless: draft.h. */
#define JUDGE_DRAFT 1
/* Bytes, of what is looked at before it takes its name; 0: nothing is. */
size_t judge_largest(enum policy_content content);
/* 0, or the negative result of the operation: -FOLDER_HELD when the human is asked. */
int judge(const struct wish *w) MUST_USE;
/* A second name of a protected file is as good as its own. */
int judge_alias(const struct wish *w) MUST_USE;
int judge_move(struct folder *f, const struct caller *c, const struct at *from,
	       const char *from_path, const struct at *to, const char *to_path, bool new) MUST_USE;
