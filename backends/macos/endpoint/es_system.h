/* es_system - the client of Endpoint Security: messages of the system, answers to it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_client.h"
#include "backends/macos/endpoint/es_queue.h"

/*
 * Life:    start() before the agent is started: no fork message comes of processes that run already
 *          -> es_queue_add() of the agent before it runs -> stop() -> es_queue_free() by the
 *          queue's owner.
 * Threads: messages come on a queue of the library's and go through es_queue.h. A timer of its own
 *          calls es_queue_backstop().
 * Needs:   root, the entitlement and Full Disk Access.
 *
 * One table, so that a session is tested with another one. Every slot is set.
 */
struct es_system {
	void *data; /* handed to every slot */
	/* Starts the client. session: its processes bear its mark (profile_mark()). On failure
	 * returns negative errno, and err names the missing requirement. */
	int (*start)(void *data, const char *session, struct es_queue **ret, struct err *err);
	/* Returns the id of a process that was forked and has not run; version 0: not known. */
	struct es_id (*id_of)(void *data, int pid);
	/* Stops the client. Afterwards no message comes, and all are answered. */
	void (*stop)(void *data);
};

#ifdef __APPLE__
extern const struct es_system es_system_darwin; /* at most one client per process */
#endif
