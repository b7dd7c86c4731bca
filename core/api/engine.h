/* engine - one session that front ends drive: its runner, its socket, undo, what it tells. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/jobs.h"
#include "core/session/session.h"

/*
 * The session's agent is the runner; what the front ends ask for is its jobs. Questions are held:
 * a front end, another terminal (api.h) or approval.command answers.
 *
 * Life:    engine_open() forks the keeper: no thread may exist (a loop may: nothing here lets
 *          libuv start one) -> listeners hear of `started`, or `failed` -> engine_close(), which
 *          waits for the keeper; what is left goes when the loop runs once more.
 * Threads: main loop only.
 */
struct engine;

struct engine_listener {
	void (*started)(void *data);
	void (*changed)(void *data);				 /* the model is newer */
	void (*said)(void *data, const char *words, bool fatal); /* fatal: every change is denied */
	void (*exited)(void *data, int wait_status); /* of engine_open_agent(): its agent has */
	void (*answered)(void *data, uint64_t ask, bool allow); /* session_ask() */
	/* It did not start (status 125..127), or has ended by itself: no more can be asked of it.
	 */
	void (*failed)(void *data, int status, const char *words);
};

int engine_open(struct engine **ret, uv_loop_t *loop, struct session_spec *spec, struct err *err)
	MUST_USE;
/* The same around an agent: spec's argv and stdio, which stays open here. There are no jobs. */
int engine_open_agent(struct engine **ret, uv_loop_t *loop, struct session_spec *spec,
		      struct err *err) MUST_USE;
void engine_close(struct engine *e); /* NULL is a no-op */
void engine_listen(struct engine *e, const struct engine_listener *on, void *data);
/* Nothing more is told to data; its undo goes on. */
void engine_unlisten(struct engine *e, const void *data);

struct session *engine_session(struct engine *e);
const struct model *engine_model(struct engine *e);
struct jobs *engine_jobs(struct engine *e);
/* Somebody else may answer what is asked: a console that is attached, or a command of the human's.
 */
bool engine_has_human(const struct engine *e);
bool engine_is_over(const struct engine *e); /* failed() was told */
/* An answer to a request: as session_answer(), and everybody is told. */
int engine_answer(struct engine *e, const char *by, uint64_t ask, const struct answer *a,
		  struct err *err);

struct undo_call {
	enum undo_kind kind;
	bool plan_only;
	size_t n;
	unsigned flags;
	const struct plan_shown *shown; /* the plan that was made last, and it is held to */
	int64_t step;			/* UNDO_PATHS */
	const char *const *paths;	/* */
};

/* plan: what was or would be changed, where that is known; else NULL. Valid during the call. */
typedef void (*engine_on_undo)(void *data, int result, const char *words,
			       const struct undo_plan *plan);

/* -EBUSY: another is under way. fn is called once, unless data is unlistened before. */
int engine_undo(struct engine *e, const struct undo_call *call, engine_on_undo fn, void *data,
		struct err *err) MUST_USE;
