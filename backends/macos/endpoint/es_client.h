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
 *   whatever has        as the policy says. What changes a file that undo covers is kept before it
 *   a path              is allowed; what cannot be kept is refused. A question goes to the human:
 *                       one for all that wait for the same directory, or the hooks ask themselves
 *   mount               denied
 *   created, renamed,   are told of
 *   XPC connection
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
	ES_HELD, /* the hook has asked by itself; es_client_resume() follows */
};

struct es_question { /* borrowed for the call */
	uint64_t id;
	const char *dir, *path; /* of the first that waits */
	enum es_access access;
	struct es_id process;
};

struct es_hooks {
	void *data; /* handed to all */
	/* Path is one of m's two: absolute and without links, the kernel's own. Mandatory. */
	enum es_verdict (*judge)(void *data, const struct es_message *m, const char *path,
				 enum es_access access);
	/* Keep what is at its paths, which is about to be changed or removed. ES_ALLOW: that is
	 * done; ES_DENY: it cannot be kept; ES_HELD. NULL: there is no undo. */
	enum es_verdict (*keep)(void *data, const struct es_message *m);
	void (*done)(void *data, const struct es_message *m); /* CREATED, RENAMED. NULL */
	/* NULL: nobody can be asked. */
	void (*ask)(void *data, const struct es_question *q);
	/* A question that nobody waits for any more; it can still be answered. NULL. */
	void (*expired)(void *data, uint64_t question);
	void (*denied)(void *data, const struct es_message *m, const char *why); /* NULL */
	void (*xpc)(void *data, const struct es_message *m);			 /* NULL */
	/* So many messages were dropped by the kernel; so many processes that they would have told
	 * of were found by the system's table. NULL. */
	void (*lost)(void *data, uint64_t messages, uint32_t found);
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
/*
 * What held the message of this handle is over. granted: a human allowed this very call; else it is
 * judged again as if it came now, or denied. One that was denied meanwhile, for its deadline: the
 * answer counts for the next try of the same for ES_LATE_US.
 */
#define ES_LATE_US INT64_C(120000000)
enum es_resume {
	ES_RESUME_DENY,
	ES_RESUME_GRANTED,
	ES_RESUME_AGAIN,
};
void es_client_resume(struct es_client *c, uint64_t handle, enum es_resume how);
/* Who would be asked is gone, or back. */
void es_client_failsafe(struct es_client *c, bool on);
void es_client_drop(struct es_client *c);	   /* denies what waits */
void es_client_forget(struct es_client *c);	   /* answers: the rules have changed */
int64_t es_client_next(const struct es_client *c); /* es_seam.now() of the next tick; 0: none */
void es_client_tick(struct es_client *c);
size_t es_client_waiting(const struct es_client *c);

/* What the tier without Endpoint Security lacks, and what to do, in one line. 0 for nothing. */
int es_lack_say(enum es_lack lack, struct err *err);
