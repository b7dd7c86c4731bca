/* steps - which command a change belongs to, when its step begins and when it is committed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

struct command;
struct folder;
struct keeper;
struct proc;

void steps_init(struct keeper *k);
void steps_done(struct keeper *k);
/* The step that a change by p in f belongs to, begun if need be: the part of it that is in f's
 * journal. hint: what is about to be changed. */
int steps_get(const struct folder *f, struct proc *p, const char *hint, struct step **ret);
/* The one that is open already, any part of it, or NULL. */
struct step *steps_open(struct keeper *k, const struct proc *p);
void steps_touched(struct keeper *k, const struct proc *p);
int64_t steps_id(struct keeper *k, const struct proc *p);
int64_t steps_next(const struct keeper *k); /* when steps_tick() is wanted, 0: never */
void steps_tick(struct keeper *k);
/* Commit what nobody works on any more; -EBUSY and words if a command holds a step open. */
int steps_settle(struct keeper *k, struct err *err) MUST_USE;
/* The human said something to the agent: what it changes from now on is another turn's. */
void steps_turn(struct keeper *k, const char *words);		  /* its prompt, or "" */
void steps_named(struct keeper *k, struct command *c);		  /* its label has come */
int steps_commit_all(struct keeper *k, struct err *err) MUST_USE; /* at the end */
void steps_announce(struct keeper *k, struct command *c); /* cordon shall know the step now */
int steps_roll_back(struct keeper *k, struct command *c, struct err *err) MUST_USE;
void steps_finish(struct keeper *k, struct command *c); /* commit and retire */
/* For groups: commit what c (may be NULL) and nobody's command have changed; both may go on. */
int steps_split(struct keeper *k, struct command *c) MUST_USE;
struct command *steps_group(struct keeper *k, const char *name);
/* 1: kept, 0: it had changed nothing, negative: it stays open. c is gone unless negative. */
int steps_close(struct keeper *k, struct command *c) MUST_USE;
void steps_ends(struct keeper *k, struct command *c); /* after its quiet time */
