/* seatbelt_priv - the state of a session under Seatbelt, and functions that its files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/launch.h"
#include "backends/macos/launch/network_gate.h"
#include "backends/macos/launch/rewrite.h"
#include "backends/macos/seatbelt.h"

struct sandbox {
	const struct seatbelt_host *host;
	struct keeper *keeper;
	char *session;
	struct mac_launch *launch;
	struct log_stream *log;
	struct throttle *throttle;
	struct rewrite *rewrite;   /* NULL: nothing to rewrite */
	struct network_gate *gate; /* until it is among the keeper's doors */
	struct es_queue *queue;	   /* NULL: no client; handed to the door */
	struct es_queue *registry; /* the same queue; the session keeps it */
	struct es_id agent;
	bool is_client;
	struct human human;
	char *settings[4]; /* for the agent's environment; ends with NULL */
	struct warden *warden;
	int exit_fd, ticker; /* -1: none */
	int period;	     /* of the ticker, in milliseconds */
	unsigned hinted;     /* bits of violation_hint() that were shown */
	bool watching_log;
	bool ended; /* and the keeper knows */
};

/* ---- seatbelt_agent.c ------------------------------------------------------------------------ */

/* Finds the agent's user, and puts the user and the caches into the agent's environment. */
int seatbelt_find_human(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
	MUST_USE;
/* Starts the agent under its profile. own: the session's directory, which is removed by this. */
int seatbelt_start_agent(struct sandbox *sb, const struct spawn_spec *spec, const char *own,
			 int *ret_status, struct err *err) MUST_USE;
/* Kills all processes inside that Endpoint Security knows, and denies all further requests. data:
 * the sandbox. Returns the number of processes. */
size_t seatbelt_end_known(void *data);
