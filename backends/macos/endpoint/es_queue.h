/* es_queue - messages from the system's thread to the keeper's, and answers back, in time. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"

/*
 * Endpoint Security sends messages of every process of the machine, and the kernel holds each
 * process until its message is answered. So the queue answers messages of processes outside at
 * once, in the system's thread: no other program waits for the keeper. Messages of processes
 * inside wait for the keeper's loop. A message without an answer shortly before its deadline is
 * denied here; a later answer of the keeper's is dropped.
 *
 * The set of processes inside comes from messages of forks. If the kernel dropped messages, the
 * queue reads the system's process table: at once, but at most once in ES_REBUILD_US, because the
 * whole machine waits meanwhile. Between two reads it looks up each unknown process that sends a
 * message.
 *
 * After the session no process inside may live: es_queue_shut() kills all that it knows. After
 * that, each message of a fork inside kills the child, so that forking is no escape.
 *
 * Life:    es_queue_new() -> es_queue_add() of the agent -> es_queue_put() and es_queue_backstop()
 *          in the system's threads; es_queue_take() in the keeper's, when the descriptor is
 *          readable -> es_queue_shut(), which denies waiting messages; then no put ->
 *          es_queue_free().
 * Threads: any, but take() and free() are the keeper's. out's functions are called under a lock and
 *          must not call back.
 */
#define ES_QUEUE_MAX   4096
#define ES_BACKSTOP_US 250000 /* before the deadline; half of ES_MARGIN_US */
#define ES_HASTE_US    120000 /* with less time left: denied at once; two rounds of backstop() */
#define ES_REBUILD_US  50000

struct es_queue;

struct es_out {
	void *data;
	/* Called exactly once for each handle that was put. */
	void (*respond)(void *data, uint64_t handle, enum es_kind kind, bool allow);
	int64_t (*now)(void *data); /* microseconds, monotonic */
	/* Sends SIGKILL to this process alone. Returns false if it has ended. NULL: no kills. */
	bool (*end)(void *data, struct es_id id);
	const struct es_table *table; /* NULL: there is none */
};

/* Returns NULL if no descriptor is left. out is borrowed. */
struct es_queue *es_queue_new(const struct es_out *out);
void es_queue_free(struct es_queue *q); /* NULL is a no-op */
void es_queue_add(struct es_queue *q, struct es_id agent);
/* Allows the calls of cordon's helper until it executes the agent: the keeper waits for the helper
 * and could not answer. Called before es_queue_add(). */
void es_queue_let_start(struct es_queue *q, struct es_id helper);
/* Answers the message and returns true if its process is outside. Returns false if the caller must
 * put it, with its strings, which this function does not read. */
bool es_queue_skips(struct es_queue *q, const struct es_message *m);
void es_queue_put(struct es_queue *q, const struct es_message *m);
void es_queue_backstop(struct es_queue *q);
/* Denies waiting and later messages, and kills the processes inside. Returns how many there were;
 * to be called until that is 0. */
size_t es_queue_shut(struct es_queue *q);

int es_queue_fd(const struct es_queue *q);
/* Takes the oldest message. Returns false if none waits. The strings last until the next take. The
 * handle is the queue's own, for the seam's answer(), and never used again. */
bool es_queue_take(struct es_queue *q, struct es_message *ret);
/* For es_client_new(): lives as long as the queue. */
const struct es_seam *es_queue_seam(const struct es_queue *q);
