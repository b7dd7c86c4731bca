/* grants - answers that apply to more than one call: to a step, or to the session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/keeper/approvals/question.h"
#include "core/keeper/caller.h"
#include "core/keeper/wire.h"
#include "core/policy/answer.h"

struct command;
struct keeper;
struct proc;

/* In command.grants for one step; else in keeper.grants, and a rule of the policy. */
struct grant {
	struct grant *next;
	uint64_t id; /* policy_answer()'s, or with GRANT_OF_STEP set */
	enum rule_kind kind;
	char *path; /* a directory's ends with '/' */
	struct answer answer;
};

/* An answer for a repeated call, until it expires. */
struct recent {
	char *key; /* pid, then asks_key() */
	int pid;
	bool allow;
	int64_t until; /* monotonic */
	UT_hash_handle hh;
};

#define GRANT_OF_STEP (UINT64_C(1) << 63)
#define GRANT_OF_LINE (UINT64_C(1) << 62) /* a command line that no safeguard holds */
#define RECENT_MAX    4096		  /* answers for repeated calls */

/* Returns 0 if no answer covers the path, 1 if one allows it, -EACCES if one denies it. */
int grants_find(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path);
/* Returns whether an answer about `object` (the path of a directory ends with a slash) covers
 * path. */
bool grants_cover(enum rule_kind kind, const char *object, enum answer_extent extent,
		  const char *path);
/* Remembers the answer to q for its scope, and reports the rule to cordon. Reduces the scope to a
 * possible one. */
void grants_add(struct keeper *k, const struct question *q, const struct answer *a);
/* Tells the doors about an answer for a directory, after the calls that waited for it were
 * answered. */
void grants_tell_doors(struct keeper *k, enum rule_kind kind, const char *object,
		       const struct answer *a);
void grants_revoke(struct keeper *k, uint64_t id);
/* Sends WIRE_GIVEN, or WIRE_GIVEN_OVER, which has no `ask`. */
void grants_tell(struct keeper *k, enum wire_type type, uint64_t rule, uint64_t ask);
void grants_forget(struct keeper *k, struct command *c);   /* the step of c is over */
void grants_leave(struct keeper *k, const struct proc *p); /* the process ended */
void grants_done(struct keeper *k);
