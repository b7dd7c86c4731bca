/* procs - a cache of the sandbox's processes; a pidfd reports the end of each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "core/base/hash.h"
#include "core/keeper/caller.h"

struct command;
struct guest_facts;
struct shell;
struct keeper;
struct source;

/* A thread that was seen; the leader's is part of its struct proc. */
struct thread {
	int tid;
	int pidfd; /* of a thread that is no leader, once it was asked for; -1 */
	struct proc *proc;
	struct thread *next; /* further threads of the process, leader excluded */
	UT_hash_handle hh;
};

struct proc {
	struct keeper *keeper;
	struct thread self; /* tid is the pid */
	struct thread *threads;
	int parent, group; /* as first seen */
	int pidfd;
	struct source *source;
	struct guest_facts *guest; /* of a guest's process (guests.h); NULL: the host's */
	mode_t umask;
	bool execed;		 /* exec was seen */
	bool thread_execs;	 /* keeper_exec_begins() of a thread that is no leader */
	bool direct;		 /* a child of the agent: a command's own process */
	bool wraps;		 /* only runs another program: sh -c, env, timeout */
	uint64_t group_serial;	 /* of the group in which it, or a child of it, changed a file */
	struct command *command; /* counted in command->refs; NULL: none, its changes are ambient */
	struct shell *shell;	 /* the user's shell that it belongs to; NULL: it is the agent's */
	struct command *ends;	 /* the command with a rollback that waits for this process */
	bool answered;		 /* a recent answer to it still counts (grants.c) */
};

int proc_parent(const struct keeper *k, int pid); /* negative errno: it has ended */
int proc_group(const struct keeper *k, int pid);  /* negative: it has ended */
/* Reads the link /proc/PID/NAME. Returns false, with an empty path, if there is no such link or it
 * is not readable. */
bool proc_link(int pid, const char *name, char ret[PATH_MAX]);
mode_t caller_umask(const struct caller *c);
/* Returns the exit status, decoded from wait(2), or -1 if it is unknown (before Linux 6.15, if
 * already reaped). */
int proc_exit_status(const struct proc *p);
/* Returns the start time on CLOCK_BOOTTIME, at most one clock tick late, or 0 if the process has
 * ended. */
int64_t proc_started_us(const struct proc *p);
bool proc_has_ended(const struct proc *p);
bool proc_is_stopped(int pid); /* by a signal (Ctrl-Z), not by a debugger */
void proc_name(const struct proc *p, char *out, size_t size);
/* Stores the path of the program that the process runs. Returns false, with an empty path, if it is
 * unknown. */
bool proc_program(const struct keeper *k, int pid, char ret[PATH_MAX]);
void proc_signal(const struct proc *p, int sig);
int proc_inner_pid(const struct proc *p); /* as the sandbox sees it */
/* Returns whether orphans of processes inside become children of this process. */
bool proc_adopts(const struct keeper *k, int pid);
struct proc *proc_get(struct keeper *k, int tid); /* NULL: the thread has ended */
/* Adds a process of a guest with empty facts, which the caller fills in before it calls
 * hooks->process_seen(). */
struct proc *proc_add_guest(struct keeper *k, int pid, int parent, int group);
/* Returns a process inside that was not seen before and is a child of `parent`; else NULL. */
struct proc *proc_get_child(struct keeper *k, int pid, int parent);
struct proc *proc_known(const struct keeper *k, int pid);
/* as if its pidfd had reported the exit; frees it */
void proc_gone(struct keeper *k, struct proc *p);
void procs_done(struct keeper *k);
