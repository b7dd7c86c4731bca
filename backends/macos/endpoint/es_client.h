/* es_client - answers messages of Endpoint Security before the kernel's deadline. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_seam.h"
#include "core/base/err.h"

/*
 * A message of a process outside the cohort is allowed at once. Of one inside:
 *
 *   signal, task port   only to those inside; the task port only where debugging is on
 *   any with a path     by the policy. Before a change to a file that undo covers, the file is
 *                       saved; if it cannot be saved, the change is refused. Questions are the
 * hooks' mount               denied created, renamed,   are reported to the hooks XPC connection
 *
 * The kernel ends a client that does not answer in time. A message that waits for the user is
 * denied shortly before its deadline; the answer counts for the next try. Denied as well: a path
 * that is cut, and messages beyond ES_WAITING_MAX that wait.
 *
 * Life:    es_client_new() -> es_client_add() of the agent -> es_client_take() for each message,
 *          es_client_tick() at es_client_next() -> es_client_free(), which denies waiting messages.
 * Threads: one owner.
 */
#define ES_WAITING_MAX 512
#define ES_MARGIN_US   500000 /* before the deadline; half of the time where that is less */

enum es_access {
	ES_READS,
	ES_WRITES, /* writes, creates, removes, renames */
	ES_RUNS,
};

enum es_verdict {
	ES_ALLOW,
	ES_DENY,
	ES_HELD, /* the hook has asked; es_client_resume() follows */
};

struct es_hooks {
	void *data; /* handed to all */
	/* Path is one of m's two: absolute and without links, the kernel's own. Mandatory. */
	enum es_verdict (*judge)(void *data, const struct es_message *m, const char *path,
				 enum es_access access);
	/* Saves the files at m's paths before they are changed or removed. Returns ES_ALLOW when
	 * they are saved, ES_DENY if they cannot be, or ES_HELD. NULL: there is no undo. */
	enum es_verdict (*keep)(void *data, const struct es_message *m);
	void (*done)(void *data, const struct es_message *m); /* CREATED, RENAMED. Or NULL */
	void (*denied)(void *data, const struct es_message *m, const char *why); /* or NULL */
	void (*xpc)(void *data, const struct es_message *m);			 /* or NULL */
	/* The kernel dropped so many messages; `found` processes were found in the system's table
	 * instead. Or NULL. */
	void (*lost)(void *data, uint64_t messages, uint32_t found);
};

struct es_client;

/* debug: processes inside may debug each other. Seam and hooks are borrowed for the whole life. */
struct es_client *es_client_new(const struct es_seam *seam, const struct es_hooks *hooks,
				bool debug);
void es_client_free(struct es_client *c); /* NULL is a no-op */
void es_client_add(struct es_client *c, struct es_id agent);
void es_client_take(struct es_client *c, const struct es_message *m);
/*
 * Goes on with the held message of this handle: denies it, lets it pass because the user allowed
 * this call, or judges it again. If the message was denied meanwhile, at its deadline, the answer
 * counts for the next try of the same call for ES_LATE_US.
 */
#define ES_LATE_US INT64_C(120000000)
enum es_resume {
	ES_RESUME_DENY,
	ES_RESUME_GRANTED,
	ES_RESUME_AGAIN,
};
void es_client_resume(struct es_client *c, uint64_t handle, enum es_resume how);
void es_client_drop(struct es_client *c);	   /* denies all waiting messages */
void es_client_forget(struct es_client *c);	   /* drops answers, after a change of rules */
int64_t es_client_next(const struct es_client *c); /* es_seam.now() of the next tick; 0: none */
void es_client_tick(struct es_client *c);
/* Returns the microseconds that are left to answer a new message. */
int64_t es_client_patience(const struct es_client *c, const struct es_message *m);

/* Says in one line why there is no client and what to do. Returns 0 for ES_LACKS_NOTHING, else
 * negative errno. */
int es_lack_say(enum es_lack lack, struct err *err);
