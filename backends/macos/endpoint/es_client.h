/* es_client - decides on what Endpoint Security asks about, before the kernel's deadline. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"
#include "backends/macos/endpoint/verdicts.h"
#include "core/base/err.h"

/*
 * A message of a process outside the cohort is allowed at once. Of one inside:
 *
 *   signal, task port   only to those inside; the task port only where debugging is on
 *   open, exec,         as the policy says. What changes a file that undo covers is kept before it
 *   unlink, rename,     is allowed; what cannot be kept is refused. A question goes to the human,
 *   create              one for all that wait for the same directory
 *   XPC connection      is told of
 *
 * The kernel ends a client that does not answer in time. What waits for a human is denied a while
 * before; its question stays, and the answer is good for the next try. Denied as well: a path that
 * is cut, more waiting than WAITING_MAX, and everything that the policy does not allow outright
 * once nobody is there to ask (es_client_failsafe(), or no slot `ask`).
 *
 * Life:    es_client_new() -> es_client_add() of the agent -> es_client_take() for each message,
 *          es_client_tick() at es_client_next() -> es_client_free(), which denies what waits.
 * Threads: one owner.
 */
#define ES_WAITING_MAX 512
#define ES_MARGIN_US   500000 /* before the deadline; half of the time where that is less */

enum es_verdict {
	ES_ALLOW,
	ES_DENY,
	ES_ASK,
};

struct es_question { /* borrowed for the call */
	uint64_t id;
	const char *dir, *path; /* of the first that waits */
	enum es_access access;
	struct es_id process;
};

struct es_hooks {
	void *data; /* handed to all */
	/* Path is absolute and without links: the kernel's own. Mandatory. */
	enum es_verdict (*judge)(void *data, const char *path, enum es_access access);
	/* Keep what is at this path, which is about to be changed or removed. 0, or negative errno:
	 * it is refused then. NULL: there is no undo. */
	int (*keep)(void *data, const struct es_message *m);
	/* NULL: nobody can be asked. */
	void (*ask)(void *data, const struct es_question *q);
	/* A question that nobody waits for any more; it can still be answered. NULL. */
	void (*expired)(void *data, uint64_t question);
	void (*denied)(void *data, const struct es_message *m, const char *why); /* NULL */
	void (*xpc)(void *data, const struct es_message *m);			 /* NULL */
	void (*lost)(void *data, uint64_t messages); /* were dropped by the kernel. NULL */
};

struct es_client;

/* debug: those inside may debug each other. Seam and hooks are borrowed for the whole life. */
struct es_client *es_client_new(const struct es_seam *seam, const struct es_hooks *hooks,
				bool debug);
void es_client_free(struct es_client *c); /* NULL is a no-op */
void es_client_add(struct es_client *c, struct es_id agent);
void es_client_take(struct es_client *c, const struct es_message *m);
/* A human has answered, for so many microseconds. -ENOENT: there is no such question. */
int es_client_answer(struct es_client *c, uint64_t question, bool allow, int64_t lasts_us);
/* Who would be asked is gone, or back. */
void es_client_failsafe(struct es_client *c, bool on);
void es_client_forget(struct es_client *c);	   /* answers: the rules have changed */
int64_t es_client_next(const struct es_client *c); /* es_seam.now() of the next tick; 0: none */
void es_client_tick(struct es_client *c);
size_t es_client_waiting(const struct es_client *c);

/* What the tier without Endpoint Security lacks, and what to do, in one line. 0 for nothing. */
int es_lack_say(enum es_lack lack, struct err *err);
