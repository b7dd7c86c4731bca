/* grants - answers that count for longer than one call: for a step, or for the session. */
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

/* In command.grants for one step, else in keeper.grants and known to the policy. */
struct grant {
	struct grant *next;
	uint64_t id; /* GRANT_OF_STEP is set in it, or it is policy_answer()'s */
	enum rule_kind kind;
	char *path; /* a directory's ends with '/' */
	struct answer answer;
};

/* Good for the same call made again, until it is too old. */
struct recent {
	char *key; /* pid, then asks_key() */
	int pid;
	bool allow;
	int64_t until; /* monotonic */
	UT_hash_handle hh;
};

#define GRANT_OF_STEP (UINT64_C(1) << 63)
#define GRANT_OF_LINE (UINT64_C(1) << 62) /* a command line that no safeguard holds */
#define RECENT_MAX    4096		  /* answers that are good for the same call made again */

/* 0: no answer covers it; 1: allowed; -EACCES: denied. */
int grants_find(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path);
/* Does an answer about `object` (a directory's ends with '/') speak of path? */
bool grants_cover(enum rule_kind kind, const char *object, enum answer_extent extent,
		  const char *path);
/* The answer to q: remembered as far as it says, and cordon is told of the rule. Its scope may
 * shrink to what is possible. */
void grants_add(struct keeper *k, const struct question *q, const struct answer *a);
/* Doors that can do more for a whole directory hear of it, when those who waited have. */
void grants_tell_doors(struct keeper *k, enum rule_kind kind, const char *object,
		       const struct answer *a);
void grants_revoke(struct keeper *k, uint64_t id);
/* WIRE_GIVEN, WIRE_GIVEN_OVER (ask is of no use then). */
void grants_tell(struct keeper *k, enum wire_type type, uint64_t rule, uint64_t ask);
void grants_forget(struct keeper *k, struct command *c);   /* its step is over */
void grants_leave(struct keeper *k, const struct proc *p); /* the process ended */
void grants_done(struct keeper *k);
