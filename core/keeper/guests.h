/* guests - processes of another kernel, a virtual machine's, as its backend tells of them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/guest_facts.h"

struct caller;
struct keeper;

/*
 * They are callers as the host's are, and a command of theirs is a step. All of it is the guest's
 * own word: one that lies gives its changes to another of its own steps, or keeps a step open until
 * the session ends. Nothing is allowed by it that would not be otherwise.
 *
 * Life of a process: guest_seen(), its parents' first -> guest_caller() -> guest_exec() ->
 * guest_left().
 */
struct guest_process {
	int pid, parent, group; /* as the guest counts; parent 0: gone */
	int64_t age_us;		/* since its start */
	bool execed;		/* since its fork */
	const char *exe, *argv; /* argv NUL-separated */
	size_t argv_len;
};

/* ops and data outlive the agent. */
void guest_begin(struct keeper *k, const struct guest_ops *ops, void *data);
/* The program that was started is this process; guest_seen() says more. */
void guest_is_agent(struct keeper *k, int pid);
/* Known already: as guest_exec(). */
void guest_seen(struct keeper *k, const struct guest_process *g);
void guest_exec(struct keeper *k, const struct guest_process *g);
void guest_left(struct keeper *k, int pid, int exit_status);
/* -ESRCH: it was not seen, or has left. */
int guest_caller(struct keeper *k, int pid, struct caller *ret);
/* The agent, where it cannot be told who it was. */
int guest_anybody(struct keeper *k, struct caller *ret);
