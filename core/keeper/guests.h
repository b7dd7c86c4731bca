/* guests - processes in a virtual machine, as its backend reports them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/guest_facts.h"

struct caller;
struct keeper;

/*
 * They are callers like host processes, and a command of theirs is a step. All facts come from the
 * guest and are not trusted: with false facts it can attribute its changes to another of its own
 * steps, or keep a step open until the session ends. False facts allow no access.
 *
 * Life of a process: guest_seen(), its parents' first -> guest_caller() -> guest_exec() ->
 * guest_left().
 */
struct guest_process {
	int pid, parent, group; /* as the guest counts; parent 0: it has ended */
	int64_t age_us;		/* since its start */
	bool execed;		/* since its fork */
	const char *exe, *argv; /* argv NUL-separated */
	size_t argv_len;
};

/* ops and data must outlive the agent. */
void guest_begin(struct keeper *k, const struct guest_ops *ops, void *data);
/* Sets the process of the agent; guest_seen() adds its facts. */
void guest_is_agent(struct keeper *k, int pid);
/* Adds a process. For a known one that has called exec, the same as guest_exec(). */
void guest_seen(struct keeper *k, const struct guest_process *g);
void guest_exec(struct keeper *k, const struct guest_process *g);
void guest_left(struct keeper *k, int pid, int exit_status);
/* Returns 0, or -ESRCH if the process was not seen, or has ended. */
int guest_caller(struct keeper *k, int pid, struct caller *ret);
/* Returns the agent as the caller, for requests of an unknown process. */
int guest_anybody(struct keeper *k, struct caller *ret);
