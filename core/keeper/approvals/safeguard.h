/* safeguard - counts what each step deletes or overwrites, and holds it at the limit. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/approvals/guard_report.h"
#include "core/keeper/caller.h"

struct command;
struct keeper;
struct step;

struct guarded { /* one operation; k, c and path are given */
	struct keeper *k;
	const struct caller *c;
	const char *path; /* absolute, of what it may take away */
	bool makes;	  /* if it is performed, something is there */
	struct command *command;
	enum loss what;
	uint64_t size; /* of what is beyond the limits */
	bool counts;   /* if it is performed */
	bool stops;    /* it reached the limit and was not performed */
};
/* Around each operation. enter: 0, or what the caller gets; leave: the operation's result, or what
 * the caller gets instead. The step may be gone then. */
int safeguard_enter(struct guarded *g, struct step *s);
int safeguard_leave(struct guarded *g, struct step *s, int result);
/* End the command's processes, refuse what waits, roll back when they are gone. */
void safeguard_deny(struct keeper *k, struct command *c, enum guard_why why);
void safeguard_roll_back(struct keeper *k, struct command *c); /* frees or retires c */
int64_t safeguard_next(const struct keeper *k);
void safeguard_tick(struct keeper *k);
void safeguard_forget(struct keeper *k, struct command *c); /* c is about to be freed */
void safeguard_revoke(struct keeper *k, uint64_t id);	    /* of GRANT_OF_LINE */
void safeguard_done(struct keeper *k);
