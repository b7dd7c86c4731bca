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
 *   keeper    starts all of it, tells what was denied, looks at quotas
 *     +- agent  under the profile of the policy (profile/profile.h), put on by launch/launch.h
 *     +- log    `log stream`: what Seatbelt denies (xpc/log_stream.h)
 *     +- proxy  where hosts are asked about: the agent's one way out (launch/network_gate.h)
 *
 * The agent changes the working folders by itself, as far as the profile lets it. What becomes of
 * that depends on Endpoint Security:
 *
 *   a client      each change is judged, asked about and captured before the kernel performs it
 *                 (endpoint/es_door.h): the profile leaves open what is asked about in the folders,
 *                 and undo works
 *   none          only hosts are asked about, no change can be undone, which is said at the start
 *
 * That macOS has no limit for the number of processes of a session is said, too: throttle.h looks.
 *
 * Who is inside is known by the messages of forks, by descent, and by a name that its profile alone
 * lets it look up (profile_mark()): neither a second fork nor another environment hides anybody.
 *
 * Life:    seatbelt_launch() -> seatbelt_stop(): whatever is asked is denied, then all are ended
 *          (launch/ending.h), then the client goes.
 * Death:   launch/warden.h ends the session if the keeper is killed.
 */
struct seatbelt_host {
	const struct mac_os *os;
	const char *sandbox_exec;	  /* NULL: the function */
	const char *log;		  /* MAC_LOG_PROGRAM */
	const char *interpose;		  /* the preload library; NULL: beside this program */
	const char *loopback;		  /* the helper of alias/ensure.h; NULL: as well */
	const struct es_system *endpoint; /* NULL: this program is no client */
	struct door *(*open_door)(const struct es_door_spec *spec); /* then: es_door_new() */
	/* Whom the agent runs as: human_find(). NULL: whoever runs this. */
	int (*find_human)(struct human *ret, const struct human_spec *spec, struct err *err);
};

/* As struct backend has them. host is borrowed for as long as the sandbox lives. */
int seatbelt_launch(const struct seatbelt_host *host, struct sandbox **ret, struct door **ret_door,
		    const struct spawn_spec *spec, struct keeper *k, int *ret_status,
		    struct err *err) MUST_USE;
void seatbelt_signal(struct sandbox *sb, int sig);
void seatbelt_stop(struct sandbox *sb);

#ifdef __APPLE__
extern const struct backend backend_seatbelt; /* seatbelt_darwin.c */
#endif
