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
	const char *path; /* absolute; the file that is deleted or overwritten */
	bool makes;	  /* the path exists after the operation */
	struct command *command;
	enum loss what;
	uint64_t size; /* bytes beyond a limit of the step */
	bool counts;   /* it counts if it is performed */
	bool stops;    /* it reached the limit and was not performed */
};
/* Called before and after each operation. safeguard_enter() returns 0 or the result for the caller;
 * safeguard_leave() returns the result of the operation, or another one for the caller. It may free
 * the step. */
int safeguard_enter(struct guarded *g, struct step *s);
int safeguard_leave(struct guarded *g, struct step *s, int result);
/* Kills the processes of the command, refuses its waiting calls, and rolls its step back after the
 * last process has gone. */
void safeguard_deny(struct keeper *k, struct command *c, enum guard_why why);
/* Rolls the step of c back; frees or retires c. */
void safeguard_roll_back(struct keeper *k, struct command *c);
int64_t safeguard_next(const struct keeper *k);
void safeguard_tick(struct keeper *k);
void safeguard_forget(struct keeper *k, struct command *c); /* called before c is freed */
/* Revokes an answer with GRANT_OF_LINE. */
void safeguard_revoke(struct keeper *k, uint64_t id);
void safeguard_done(struct keeper *k);
