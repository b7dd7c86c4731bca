/* asks - questions for the user, and the calls that wait for the answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/approvals/question.h"
#include "core/keeper/caller.h"

struct keeper;

/* Asks the user, and lets the call wait. Returns -FOLDER_HELD, -EACCES, or 0 if an answer for this
 * step or a recent one allows the call. */
int asks_park(struct keeper *k, const struct caller *c, const struct wished *w);
void asks_answer(struct keeper *k, uint64_t id, const struct answer *a);
void asks_forget(struct keeper *k, const struct command *c); /* called before c is freed */
/* Returns whether a user can answer and a door can hold calls. */
bool asks_possible(const struct keeper *k);
/* Callbacks for the code that holds a command and asks about it. */
struct hold_ops {
	void (*asked)(struct keeper *k, struct command *c);
	void (*waits)(struct keeper *k, struct command *c, const char *op, const char *path);
	void (*answered)(struct keeper *k, struct command *c, const struct answer *a);
	void (*over)(struct keeper *k, struct command *c); /* the question is about to be freed */
};
/* Lets this call of a held command wait too. Returns -FOLDER_HELD or -ENOSPC. */
int asks_hold(struct keeper *k, const struct caller *c, struct command *command, const char *path,
	      const struct hold_ops *ops);
/* Ends and frees the question. The waiting calls get the verdict. */
void asks_release(struct keeper *k, struct question *q, enum door_verdict verdict);
/* Ends the question unanswered, and tells cordon so. */
void asks_withdraw(struct keeper *k, struct question *q);
/* Tells cordon that the question timed out. */
void asks_tell_over(struct keeper *k, const struct question *q);
/* Notes which questions the last policy_reload() decides. Before policy_forget_old(). */
void asks_note_reruled(struct keeper *k);
/* Ends these questions: their calls are judged again. */
void asks_release_reruled(struct keeper *k);
void asks_leave(struct keeper *k, int pid); /* the process has ended */
void asks_drop_all(struct keeper *k);
int64_t asks_next(const struct keeper *k);
void asks_tick(struct keeper *k);
void asks_done(struct keeper *k);
