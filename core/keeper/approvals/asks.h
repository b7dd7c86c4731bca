/* asks - questions for the human, and the calls that wait for the answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/approvals/question.h"
#include "core/keeper/caller.h"

struct keeper;

/* What is asked, for asks_park(). */
struct wished {
	enum rule_kind kind;
	const char *path, *via; /* via: as the caller wrote it, NULL: the same */
	bool is_dir;
	bool secret; /* it gives much away: ASK_SECRET */
	const char *reason;
	const char *object; /* what is to take the name, as it is now; NULL: nothing */
	bool unsettled;	    /* it may change by itself: somebody can write to it */
	bool beside;	    /* it is not what the call that waits does: that is judged anew then */
};

/* -FOLDER_HELD, -EACCES, or 0: it was allowed already, for this step or a moment ago. */
int asks_park(struct keeper *k, const struct caller *c, const struct wished *w);
void asks_answer(struct keeper *k, uint64_t id, const struct answer *a);
void asks_forget(struct keeper *k, const struct command *c); /* c is about to be freed */
bool asks_possible(const struct keeper *k); /* somebody answers, and something can wait */
/* Who holds a command, of the question about it. */
struct hold_ops {
	void (*asked)(struct keeper *k, struct command *c);
	void (*waits)(struct keeper *k, struct command *c, const char *op, const char *path);
	void (*answered)(struct keeper *k, struct command *c, const struct answer *a);
	void (*over)(struct keeper *k, struct command *c); /* the question is about to be freed */
};
/* The command is held: this call of it waits too. -FOLDER_HELD or -ENOSPC. */
int asks_hold(struct keeper *k, const struct caller *c, struct command *command, const char *path,
	      const struct hold_ops *ops);
/* The question is over (and freed), and those who waited hear this. */
void asks_release(struct keeper *k, struct question *q, enum door_verdict verdict);
void asks_withdraw(struct keeper *k, struct question *q); /* cordon is told that it is gone */
void asks_tell_over(struct keeper *k, const struct question *q); /* denied by nobody */
void asks_leave(struct keeper *k, int pid);			 /* the process ended */
void asks_drop_all(struct keeper *k);
int64_t asks_next(const struct keeper *k);
void asks_tick(struct keeper *k);
void asks_done(struct keeper *k);
