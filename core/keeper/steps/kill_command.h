/* kill_command - kills every process of a command, including processes that made no trapped call.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

struct command;
struct keeper;
struct proc;

void ending_begin(struct keeper *k, struct command *c);
void ending_add(struct keeper *k, struct command *c, struct proc *p);
void ending_stop(struct keeper *k);		     /* ends the commands with open steps */
void ending_leave(struct keeper *k, struct proc *p); /* the process has ended */
