/* owner - finds the command that a change belongs to. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct command;
struct keeper;
struct proc;

/* Returns the command that a change of p belongs to, or NULL if it belongs to none and no ambient
 * step is open. p may be NULL. */
struct command *steps_command(struct keeper *k, const struct proc *p);
/* Begins an ambient command for p. hint: the path that is about to be changed. */
struct command *owner_ambient(struct keeper *k, const struct proc *p, const char *hint);
/* Sets the label of an ambient command; p NULL: labels it as the agent's own. */
void owner_label(struct keeper *k, struct command *c, const struct proc *p, const char *hint);
/* Begins one step for all commands of the next seconds, because the history is full. So the history
 * grows slowly, keeps all it has, and the newest work can still be undone in parts. The step ends
 * early with a turn, with the session, or before an undo. */
struct command *owner_fold(struct keeper *k);
