/* beside - starts the user's programs in the agent's running sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"

/*
 * A launcher starts such a program as it started the agent: in the same namespaces, under a
 * Landlock domain and a system-call filter of its own. The two domains are siblings: Landlock lets
 * neither program read, trace or signal the other (signals: Linux 6.12). The filter has a listener
 * of its own (beside_door.h). The program's terminal is a pty of the host's /dev/pts, which the
 * sandbox does not have: no program inside can open it.
 *
 * Life: beside_start() -> spec->ended(), once, or beside_drop() before that. The keeper's thread.
 */
struct beside;

struct ground { /* all borrowed, for the call */
	struct keeper *keeper;
	const struct namespaces *cell;
	const struct spawn_spec *spec; /* the agent's; outlives these programs */
	const struct plan *plan;
	const struct filter_spec *filter;
	const struct spawn_limits *limits;
	const char *const *env;
	int cgroups[2];
	int guard;	   /* the cgroup's guard; -1: none */
	struct door *door; /* of beside_door_new() */
};

/* Starts a program. Returns its pid, as the host sees it, or negative errno. */
int beside_start(struct beside **list, const struct ground *g, const struct beside_spec *spec,
		 struct err *err);
/* Ends the reports, before the sandbox's end. */
void beside_drop(struct beside **list);
