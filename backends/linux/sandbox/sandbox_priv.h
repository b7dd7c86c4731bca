/* sandbox_priv - the state of a sandbox, in the keeper, and the functions between its files. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

struct beside;

struct sandbox {
	struct keeper *keeper;
	struct namespaces cell;
	pid_t agent;	 /* our child too; 0 once it has been waited for */
	pid_t guard;	 /* of the cgroup */
	int agent_pidfd; /* */
	int hello;	 /* the agent's, until it execs */
	int guard_sock;	 /* to the guard of the cgroup */
	int cgroups[2];	 /* cgroup.procs to enter, opened before D0 forbids it; -1: none */
	struct plan plan;
	struct gate *gate;
	struct tls *tls; /* puts secrets into requests; NULL: there are none */
	const struct secrets *secrets;
	struct proxy_door *proxy; /* until the keeper has it among its doors */
	bool no_fuse;		  /* the device opens, but mounting failed */
	struct spawn_limits limits;
	char **env;		       /* the agent's, where it is not as given */
	const char *private[5];	       /* for keeper_set_private() */
	const struct spawn_spec *spec; /* lives as long as the keeper */
	struct filter_spec filter;
	struct door *beside; /* the keeper's; NULL: not yet */
	struct beside *others;
	bool watching, starting; /* the agent's end, and its exec, are waited for */
	bool watching_fence;
};

/* Waits for the child, unless it was waited for: pid is 0 afterwards. Returns its wait status. */
int sandbox_reap(pid_t *pid);
/*
 * Forks the agent up to its first note, with the fence or under pid 1, which gets cordon's
 * lifeline. ret_status: of cordon, after a failure.
 */
int sandbox_start_agent(struct sandbox *sb, const struct builder *builder,
			const struct spawn_spec *spec, const struct filter_spec *filter,
			int *ret_status, struct err *err) MUST_USE;
/* Lets the agent execute its program, and watches its end from here on. */
int sandbox_start_program(struct sandbox *sb, struct door *door, int *ret_status, struct err *err)
	MUST_USE;
/*
 * Places the limits. The usual ones are best effort: `doctor` says what holds here, and rlimits
 * hold in any case. Limits that the user named hold, or the start fails.
 */
int sandbox_place_limits(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
	MUST_USE;
