/* seatbelt_priv - a session under Seatbelt, and how its agent starts. */
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
	struct rewrite *rewrite;   /* NULL: nothing is */
	struct network_gate *gate; /* until the keeper has it among its doors */
	struct es_queue *queue;	   /* NULL: no client; given to the door once there is one */
	struct es_queue *registry; /* the same, and still here then: the door is closed later */
	struct es_id agent;
	bool is_client;
	struct human human;
	char *settings[4]; /* of the agent's environment; ends with NULL */
	struct warden *warden;
	int exit_fd, ticker; /* -1: none */
	int period;	     /* of the ticker */
	unsigned hinted;     /* violation_hint() */
	bool watching_log;
	bool ended; /* and the keeper has been told */
};

/* ---- seatbelt_agent.c ------------------------------------------------------------------------ */

/* Finds the agent's user, and puts the user and the caches into the agent's environment. */
int seatbelt_find_human(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
	MUST_USE;
/* Starts the agent under its profile. own: the session's directory, which is removed by this. */
int seatbelt_start_agent(struct sandbox *sb, const struct spawn_spec *spec, const char *own,
			 int *ret_status, struct err *err) MUST_USE;
/* Kills all processes inside that Endpoint Security knows, and denies all that they ask for from
 * now on. data: the sandbox. Returns how many there were. */
size_t seatbelt_end_known(void *data);
