/* owner - which command a change belongs to. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct command;
struct keeper;
struct proc;

/* By who makes the change. NULL: nobody's, and no ambient step is open. p may be NULL. */
struct command *steps_command(struct keeper *k, const struct proc *p);
/* A new ambient command for it. hint: the path that is about to be changed. */
struct command *owner_ambient(struct keeper *k, const struct proc *p, const char *hint);
/* The label of such a one; p NULL: as the agent's own. */
void owner_label(struct keeper *k, struct command *c, const struct proc *p, const char *hint);
/* The history is full: what begins no more is one step, until the session ends or the human undoes
 * something. What those inside did before stays, and what was there before them. */
struct command *owner_fold(struct keeper *k);
