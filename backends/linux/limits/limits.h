/* limits - how much of the machine a session may use. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Two mechanisms: a cgroup of the session (v2 or v1, where one can be made) limits the whole
 * process tree; rlimits hold per process, except RLIMIT_NPROC, which is counted per user and user
 * namespace and does not limit root (Linux 5.14). CPU time and open files are rlimits always.
 */

/* Sets the rlimits, in the agent's process before exec. No heap. */
int limits_apply(const struct spawn_limits *limits, struct err *err) MUST_USE;

/*
 * Limits the sandbox to half of the user's inotify instances and watches, because the kernel counts
 * them for the user as a whole, inside and outside. Called in a process with the capabilities of
 * the sandbox's own user namespace. Best effort; no heap.
 */
void limits_share_watches(void);

enum {
	CGROUP_PIDS = 1 << 0,
	CGROUP_MEMORY = 1 << 1,
};

struct cgroup {
	char dirs[2][512]; /* v2: one; v1: pids and memory */
	int locks[2];	   /* flock of each, until it has been removed */
	size_t n;
	unsigned what; /* CGROUP_* bits that are in force */
};

/*
 * Makes the session's cgroup and writes its limits. -EOPNOTSUPP: no cgroup can be made here.
 * Removes cgroups of killed sessions beside it if they are empty and not locked.
 */
int cgroup_make(struct cgroup *g, const char *session, const struct spawn_limits *limits,
		struct err *err) MUST_USE;
/* Closes the locks in this process; a forked process keeps them. */
void cgroup_leave(struct cgroup *g);
/* Returns a descriptor of cgroup.procs of dirs[i], or -1. */
int cgroup_open(const struct cgroup *g, size_t i);
void cgroup_remove(struct cgroup *g);

/*
 * Returns whether the limits are so wide that no program can reach them within 15 ms. The first
 * process that enters a cgroup waits that long, for an RCU grace period. With wide limits the guard
 * moves the running tree into the cgroup; with tight limits the agent enters before its start.
 */
bool cgroup_may_wait(const struct spawn_limits *limits);

/* Returns false if certainly no cgroup can be made, so that no guard is needed. */
bool cgroup_may_exist(void);

struct guard {
	const char *session;
	const struct spawn_limits *limits;
	const struct cgroup *made; /* NULL: the guard makes and enters it */
	pid_t first;		   /* pid 1 of the sandbox, parent of orphaned processes */
	int pidfd;		   /* of first: the guard ends with it */
	/* A stream of pid_t: the agent's, then of each program beside it. Used when made is NULL.
	 */
	int sock;
};

/*
 * Forks the guard: a process that moves the tree into the cgroup (unless made) and removes the
 * cgroup after the sandbox's end, also if the sandbox was killed. Called before the keeper confines
 * itself. Returns its pid.
 */
pid_t cgroup_guard(const struct guard *g, struct err *err);

/*
 * Returns whether the guard has killed the sandbox because more processes ran than the limit allows
 * before the guard could move them. sock: the other end of guard.sock, after the sandbox's death.
 */
bool cgroup_guard_ended_it(int sock);
