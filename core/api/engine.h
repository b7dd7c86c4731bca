/* engine - one session that front ends drive: its runner, its socket, undo, its events. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/jobs.h"
#include "core/session/session.h"

/*
 * The session's agent is the runner; requests of the front ends are its jobs. Questions wait until
 * a front end, another terminal (api.h) or approval.command answers.
 *
 * Life:    engine_open() forks the keeper: no thread may exist (a loop may: nothing here lets
 *          libuv start one) -> listeners hear of `started`, or `failed` -> engine_close(), which
 *          waits for the keeper; the rest is freed when the loop runs once more.
 * Threads: main loop only.
 */
struct engine;

/* The full consoles of an engine's session, for cordon attach; core draws none. */
struct engine_consoles {
	/* wake: called after each request to the session. */
	void *(*open)(uv_loop_t *loop, struct session *s, const struct session_spec *spec,
		      void (*wake)(void *engine), void *engine);
	void (*take)(void *consoles, int fd); /* gets the connection of a client (frames.h) */
	void (*changed)(void *consoles);      /* the model has changed */
	void (*printed)(void *consoles, const char *bytes, size_t len, int rows, int cols);
	void (*tick)(void *consoles); /* once a second */
	bool (*has_human)(void *consoles);
	void (*close)(void *consoles); /* before the session closes; done in a later turn */
};
/* Sets the consoles of engines that are opened later. */
void engine_set_consoles(const struct engine_consoles *ops);

struct engine_listener {
	void (*started)(void *data);
	void (*changed)(void *data);				 /* the model has changed */
	void (*said)(void *data, const char *words, bool fatal); /* fatal: every change is denied */
	/* The agent of engine_open_agent() has ended. */
	void (*exited)(void *data, int wait_status);
	void (*answered)(void *data, uint64_t ask, bool allow); /* session_ask() */
	/* Another terminal ends the session (cmd.end). NULL for engine_open_agent(): it is
	 * refused. */
	void (*end)(void *data);
	/* The session did not start (status 125..127), or has ended by itself: it takes no more
	 * requests. */
	void (*failed)(void *data, int status, const char *words);
};

int engine_open(struct engine **ret, uv_loop_t *loop, struct session_spec *spec, struct err *err)
	MUST_USE;
/* Opens a session around an agent, with argv and stdio of spec; stdio stays open here. It has no
 * jobs. Calls on from the start, before *ret is set. Makes the loop once the session's processes
 * are forked: if a process has used libuv, its child cannot use it after it closed the inherited
 * descriptors. The caller closes the loop, unless this fails. */
int engine_open_agent(struct engine **ret, uv_loop_t *loop, struct session_spec *spec,
		      const struct engine_listener *on, void *data, struct err *err) MUST_USE;
void engine_close(struct engine *e); /* NULL is a no-op */
void engine_listen(struct engine *e, const struct engine_listener *on, void *data);
/* Stops calls for data; an undo of it continues. */
void engine_unlisten(struct engine *e, const void *data);

struct session *engine_session(struct engine *e);
const struct model *engine_model(struct engine *e);
struct jobs *engine_jobs(struct engine *e);
/* Returns whether a user can answer questions elsewhere: in an attached console, or by a
 * command. */
bool engine_has_human(const struct engine *e);
bool engine_is_over(const struct engine *e); /* failed() was called */
/* Shows output of the agent, as on a terminal of this size, in the consoles. Call it without bytes
 * once the agent has such a terminal. NULL is a no-op. */
void engine_printed(struct engine *e, const char *bytes, size_t len, int rows, int cols);
/* Answers a request like session_answer(), and tells all listeners. */
int engine_answer(struct engine *e, const char *by, uint64_t ask, const struct answer *a,
		  struct err *err);

struct undo_call {
	enum undo_kind kind;
	bool plan_only;
	size_t n;
	unsigned flags;
	const struct plan_shown *shown; /* the plan that was made last, which the undo must match */
	int64_t step;			/* UNDO_PATHS */
	const char *const *paths;
};

/* plan: the changes that were made or planned; NULL: not known. Valid during the call. */
typedef void (*engine_on_undo)(void *data, int result, const char *words,
			       const struct undo_plan *plan);

/* Starts an undo. Returns -EBUSY if another one runs. Calls fn once, unless engine_unlisten() is
 * called for data before. */
int engine_undo(struct engine *e, const struct undo_call *call, engine_on_undo fn, void *data,
		struct err *err) MUST_USE;
