/* es_queue - messages from the system's thread to the keeper's, and answers back, in time. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * Endpoint Security tells of every process of the machine, and the kernel holds each until it has
 * an answer. So what is about processes outside is answered here, in the system's thread: no
 * program of the user's waits for the keeper. What is about those inside waits in a queue for the
 * keeper's loop. A message that has no answer shortly before its deadline is denied here, whatever
 * the keeper does; an answer of the keeper's that comes after that is dropped.
 *
 * Who is inside is known by the messages of forks. Where the kernel dropped some, the system's
 * table is read: at once, but not more than once in ES_REBUILD_US, for all of the machine waits
 * meanwhile. Until then who is not known and asks is looked at by itself.
 *
 * Once the session is over nobody inside may live: es_queue_shut() kills whom it knows, and from
 * then on the message of a fork kills the child, however fast one begets the next.
 *
 * Life:    es_queue_new() -> es_queue_add() of the agent -> es_queue_put() and es_queue_backstop()
 *          in the system's threads; es_queue_take() in the keeper's, when the descriptor is
 *          readable -> es_queue_shut(), which denies what waits; then no put -> es_queue_free().
 * Threads: any, but take() and free() are the keeper's. out's functions are called under a lock and
 *          must not call back.
 */
#define ES_QUEUE_MAX   4096
#define ES_BACKSTOP_US 250000 /* before the deadline; half of ES_MARGIN_US */
#define ES_HASTE_US    120000 /* who has less left is denied at once: two rounds of backstop() */
#define ES_REBUILD_US  50000

struct es_queue;

struct es_out {
	void *data;
	/* Exactly once for each handle that was put. */
	void (*respond)(void *data, uint64_t handle, enum es_kind kind, bool allow);
	int64_t (*now)(void *data); /* microseconds, monotonic */
	/* SIGKILL to just this process; false: it is not there any more. NULL: nobody is killed. */
	bool (*end)(void *data, struct es_id id);
	const struct es_table *table; /* NULL: there is none */
};

/* NULL: no descriptors. out is borrowed. */
struct es_queue *es_queue_new(const struct es_out *out);
void es_queue_free(struct es_queue *q); /* NULL is a no-op */
void es_queue_add(struct es_queue *q, struct es_id agent);
/* It is of a process outside, and has its answer. False: it is to be put, with its strings, which
 * are not looked at here. */
bool es_queue_skips(struct es_queue *q, const struct es_message *m);
void es_queue_put(struct es_queue *q, const struct es_message *m);
void es_queue_backstop(struct es_queue *q);
/* Everything is denied from now on, and what waits at once; who is inside is killed. How many were
 * there; again and again, until none is. */
size_t es_queue_shut(struct es_queue *q);

int es_queue_fd(const struct es_queue *q);
/* False: none waits. The strings last until the next take. Its handle is one of the queue's own,
 * for the seam's answer(); it is never used again. */
bool es_queue_take(struct es_queue *q, struct es_message *ret);
/* For es_client_new(): lives as long as the queue. */
const struct es_seam *es_queue_seam(const struct es_queue *q);
