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
 * Life:    es_queue_new() -> es_queue_add() of the agent -> es_queue_put() and es_queue_backstop()
 *          in the system's threads; es_queue_take() in the keeper's, when the descriptor is
 *          readable -> es_queue_shut(), which denies what waits; then no put -> es_queue_free().
 * Threads: any, but take() and free() are the keeper's. out's functions are called under a lock and
 *          must not call back.
 */
#define ES_QUEUE_MAX   4096
#define ES_BACKSTOP_US 250000 /* before the deadline; half of ES_MARGIN_US */

struct es_queue;

struct es_out {
	void *data;
	/* Exactly once for each handle that was put. */
	void (*respond)(void *data, uint64_t handle, enum es_kind kind, bool allow);
	int64_t (*now)(void *data); /* microseconds, monotonic */
};

/* NULL: no descriptors. out is borrowed. */
struct es_queue *es_queue_new(const struct es_out *out);
void es_queue_free(struct es_queue *q); /* NULL is a no-op */
void es_queue_add(struct es_queue *q, struct es_id agent);
void es_queue_put(struct es_queue *q, const struct es_message *m);
void es_queue_backstop(struct es_queue *q);
/* Everything is denied from now on, and what waits at once. */
void es_queue_shut(struct es_queue *q);

int es_queue_fd(const struct es_queue *q);
/* False: none waits. The strings last until the next take. Its handle is one of the queue's own,
 * for the seam's answer(); it is never used again. */
bool es_queue_take(struct es_queue *q, struct es_message *ret);
/* For es_client_new(): lives as long as the queue. */
const struct es_seam *es_queue_seam(const struct es_queue *q);
