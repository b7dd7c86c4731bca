/* limits - how much of the machine a session may use. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Two means: a cgroup of the session (v2 or v1, where one can be made) holds for the whole tree;
 * rlimits hold per process, except RLIMIT_NPROC, which is counted per user namespace for everybody
 * but root (Linux 5.14). CPU time and open files are rlimits always.
 */

/* In the agent's process, before exec. No heap. */
int limits_apply(const struct spawn_limits *limits, struct err *err) MUST_USE;

/*
 * In a process with the capabilities of the sandbox's own user namespace: of the file watches that
 * the kernel counts for the user as a whole, inside and outside, half are for those inside. No
 * heap.
 */
void limits_share_watches(void);

enum {
	CGROUP_PIDS = 1 << 0,
	CGROUP_MEMORY = 1 << 1,
};

struct cgroup {
	char dirs[2][512]; /* v2: one; v1: pids and memory */
	int locks[2];	   /* of each, held as long as somebody is to remove it */
	size_t n;
	unsigned what; /* CGROUP_* bits that hold */
};

/*
 * Make the session's cgroup and write its limits. -EOPNOTSUPP: there is nowhere to make it. What
 * sessions that were killed have left beside it is removed: empty, and locked by nobody.
 */
int cgroup_make(struct cgroup *g, const char *session, const struct spawn_limits *limits,
		struct err *err) MUST_USE;
/* This process leaves the locks to another that has them. */
void cgroup_leave(struct cgroup *g);
/* A descriptor of cgroup.procs of dirs[i]. */
int cgroup_open(const struct cgroup *g, size_t i);
void cgroup_remove(struct cgroup *g);

/*
 * The first process that enters a cgroup waits for an RCU grace period, about 15 ms. When the
 * limits are so wide that nothing can reach them in that time, a process of its own places the tree
 * while it runs; tight limits are placed before the start.
 */
bool cgroup_may_wait(const struct spawn_limits *limits);

/* False where it is plain that no cgroup can be made: a guard would be forked in vain. */
bool cgroup_may_exist(void);

struct guard {
	const char *session;
	const struct spawn_limits *limits;
	const struct cgroup *made; /* NULL: the guard makes and enters it */
	pid_t first;		   /* pid 1 of the sandbox: what is orphaned falls to it */
	int pidfd;		   /* of it: the guard ends with it */
	int sock; /* a stream: gives one pid_t, the agent; used when made is NULL */
};

/*
 * Fork the process that places the tree (unless made) and removes the cgroup after the sandbox's
 * end, however that came. To be called before the keeper confines itself. Returns its pid.
 */
pid_t cgroup_guard(const struct guard *g, struct err *err);

/*
 * On the other end of sock, once the sandbox is dead: whether the guard has ended it, because more
 * ran than the limit allows before it could be placed.
 */
bool cgroup_guard_ended_it(int sock);
