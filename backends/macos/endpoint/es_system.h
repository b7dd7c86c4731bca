/* es_system - the client of Endpoint Security: messages of the system, answers to it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_client.h"
#include "backends/macos/endpoint/es_queue.h"

/*
 * Life:    start() before the agent is forked -> es_queue_add() of the agent before it runs ->
 *          stop() -> es_queue_free() by whoever has taken the queue.
 * Threads: messages come on a queue of the library's and go through es_queue.h, which a timer of
 *          its own looks after.
 * Needs:   root, the entitlement and Full Disk Access.
 *
 * One table, so that a session is tested with another one. Every slot is set.
 */
struct es_system {
	void *data; /* handed to every slot */
	/* Whose marks the session's processes bear. Negative errno and err: what is missing. */
	int (*start)(void *data, const char *session, struct es_queue **ret, struct err *err);
	/* Of a process that was forked and has not run yet; version 0 where it cannot be told. */
	struct es_id (*id_of)(void *data, int pid);
	/* No message comes any more and all are answered. */
	void (*stop)(void *data);
};

#ifdef __APPLE__
extern const struct es_system es_system_darwin; /* one client a process */
#endif
