/* steps - assigns changes to commands' steps, begins steps, and commits them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

struct command;
struct folder;
struct keeper;
struct proc;

void steps_init(struct keeper *k);
void steps_done(struct keeper *k);
/* Gets the step of a change by p in f, and begins it if needed: its part in the journal of f. hint:
 * the path that is about to be changed. */
int steps_get(const struct folder *f, struct proc *p, const char *hint, struct step **ret);
/* Returns any part of the open step of p, or NULL. */
struct step *steps_open(struct keeper *k, const struct proc *p);
/* Begins the step of c, or a part of it in one more folder. */
int steps_begin(struct keeper *k, struct command *c, struct journal *j, struct step **ret) MUST_USE;
void steps_touched(struct keeper *k, const struct proc *p);
int64_t steps_id(struct keeper *k, const struct proc *p);
int64_t steps_next(const struct keeper *k); /* when to call steps_tick(); 0: never */
void steps_tick(struct keeper *k);
/* Commits every step that no command holds open. Returns -EBUSY, with a message, if a command holds
 * one open. */
int steps_settle(struct keeper *k, struct err *err) MUST_USE;
/* Begins a new turn after the user sent a line to the agent. Later changes belong to it. */
void steps_turn(struct keeper *k, const char *words);		  /* its prompt, or "" */
void steps_named(struct keeper *k, struct command *c);		  /* its label is known now */
int steps_commit_all(struct keeper *k, struct err *err) MUST_USE; /* at the session's end */
void steps_announce(struct keeper *k, struct command *c); /* reports the step to cordon now */
/* step_roll_back.c: takes the open step back. */
int steps_roll_back(struct keeper *k, struct command *c, struct err *err) MUST_USE;
void steps_finish(struct keeper *k, struct command *c); /* commits the step, retires c */
/* For groups: commits the changes of c (may be NULL) and of ambient commands; both continue. */
int steps_split(struct keeper *k, struct command *c) MUST_USE;
struct command *steps_group(struct keeper *k, const char *name);
/* Closes the step. Returns 1 if it was kept, 0 if it had no changes, negative if it stays open.
 * Frees c unless negative. */
int steps_close(struct keeper *k, struct command *c) MUST_USE;
void steps_ends(struct keeper *k, struct command *c); /* called after its quiet time */
