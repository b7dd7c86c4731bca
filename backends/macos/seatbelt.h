/* seatbelt - the backend that runs the agent under a Seatbelt profile. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_door.h"
#include "backends/macos/endpoint/es_system.h"
#include "backends/macos/launch/human.h"
#include "backends/macos/os.h"
#include "core/session/backend.h"

/*
 * Theory of operation.
 *
 *   keeper    starts the others, reports denials, checks quotas
 *     +- agent  under the profile of the policy (profile/profile.h), which launch/launch.h applies
 *     +- log    `log stream`: denials of Seatbelt (xpc/log_stream.h)
 *     +- proxy  the agent's only way out, if the policy asks about hosts (launch/network_gate.h)
 *
 * The agent changes the working folders by itself, as far as the profile allows. Questions and undo
 * depend on a client of Endpoint Security:
 *
 *   a client      each change is judged, asked about and captured before the kernel performs it
 *                 (endpoint/es_door.h). The profile allows the changes in the folders about which
 *                 cordon asks the user. Undo works
 *   none          cordon asks about hosts only, and undoes nothing. A message at the start says so
 *
 * macOS has no limit for the number of a session's processes, as another message says: throttle.h
 * counts them.
 *
 * Processes inside are known by the messages of forks, by descent, and by a service name that only
 * the session's profile allows to be looked up (profile_mark()): neither a second fork nor another
 * environment hides a process.
 *
 * Life:    seatbelt_launch() -> seatbelt_stop(): open questions are denied, then all processes are
 *          ended (launch/ending.h), then the client is closed.
 * Death:   launch/warden.h ends the session if the keeper is killed.
 */
struct seatbelt_host {
	const struct mac_os *os;
	const char *helper;		  /* NULL: beside this program */
	const char *sandbox_exec;	  /* for sandbox.seatbelt = sandbox-exec */
	const char *log;		  /* MAC_LOG_PROGRAM */
	const char *interpose;		  /* the preload library; NULL: beside this program */
	const char *loopback;		  /* the helper of alias/ensure.h; NULL: the same */
	const struct es_system *endpoint; /* NULL: this program cannot be a client */
	/* With a client: es_door_new(). */
	struct door *(*open_door)(const struct es_door_spec *spec);
	/* Finds the agent's user: human_find(). NULL: the user of this process. */
	int (*find_human)(struct human *ret, const struct human_spec *spec, struct err *err);
};

/* The functions of struct backend. host is borrowed for the sandbox's life. */
int seatbelt_launch(const struct seatbelt_host *host, struct sandbox **ret, struct door **ret_door,
		    const struct spawn_spec *spec, struct keeper *k, int *ret_status,
		    struct err *err) MUST_USE;
void seatbelt_signal(struct sandbox *sb, int sig);
void seatbelt_stop(struct sandbox *sb);

#ifdef __APPLE__
extern const struct backend backend_seatbelt; /* seatbelt_darwin.c */
#endif
