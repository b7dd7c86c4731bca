/* activity_procs - finds the command that a process belongs to, from the rows of programs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/model.h"

/*
 * Life:   zeroed -> activity_procs_key() for each row, in their order -> activity_procs_done().
 * Bounds: PROCS_MAX processes; beyond, the table is cleared, and known children count as commands.
 */
#define PROCS_MAX 20000

struct proc;
struct procs {
	struct proc *by_pid;
};

/* Returns the key of the command that the program of this row belongs to: `own` if it is a command
 * itself, such as a child of the agent. *ret_child: it belongs to another command. Heap. agent: its
 * name; "": unknown. */
char *activity_procs_key(struct procs *p, const struct row *r, const char *own, const char *agent,
			 bool *ret_child) MUST_USE;
void activity_procs_done(struct procs *p);
