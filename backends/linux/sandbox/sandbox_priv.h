/* sandbox_priv - the state of a sandbox, in the keeper, and the functions between its files. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

struct beside;

struct sandbox {
	struct keeper *keeper;
	struct namespaces cell;
	pid_t agent; /* a child of the keeper; 0 once it has been reaped */
	pid_t guard; /* the cgroup's guard */
	int agent_pidfd;
	int hello;	/* the agent's socket, until it executes the program */
	int guard_sock; /* to the cgroup's guard */
	int cgroups[2]; /* cgroup.procs to enter, opened before D0 forbids that; -1: none */
	struct plan plan;
	struct gate *gate;
	struct tls *tls; /* puts secrets into requests; NULL: there are none */
	const struct secrets *secrets;
	struct proxy_door *proxy; /* until it is among the keeper's doors */
	bool no_fuse;		  /* the device opens, but mounting failed */
	struct spawn_limits limits;
	char **env;		       /* the agent's, if it differs from the given one */
	const char *private[5];	       /* for keeper_set_private() */
	const struct spawn_spec *spec; /* lives as long as the keeper */
	struct filter_spec filter;
	struct door *beside; /* the keeper owns it; NULL: not needed yet */
	struct beside *others;
	bool watching, starting; /* the agent's end, and its exec, are watched */
	bool watching_fence;
};

/* Waits for the child, unless it was reaped, and sets *pid to 0. Returns its wait status. */
int sandbox_reap(pid_t *pid);
/*
 * Forks the agent and waits for its first note. Gives pid 1 or the fence cordon's lifeline.
 * ret_status: cordon's exit status after a failure.
 */
int sandbox_start_agent(struct sandbox *sb, const struct builder *builder,
			const struct spawn_spec *spec, const struct filter_spec *filter,
			int *ret_status, struct err *err) MUST_USE;
/* Lets the agent execute its program, and watches its end. */
int sandbox_start_program(struct sandbox *sb, struct door *door, int *ret_status, struct err *err)
	MUST_USE;
/*
 * Places the limits. Default limits are best effort: `doctor` shows which ones hold here, and
 * rlimits always hold. If a limit that the user named cannot be placed, the start fails.
 */
int sandbox_place_limits(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
	MUST_USE;
/* Returns an error if sandbox_place_limits() would refuse a limit that the user named. */
int sandbox_check_limits(const struct spawn_limits *limits, struct err *err) MUST_USE;
