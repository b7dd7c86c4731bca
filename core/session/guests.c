/* guests - undo that another terminal asks for: its plans are told to it, the job is the model's.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <utlist.h>

#include "core/session/session_priv.h"

struct guest {
	struct guest *next;
	uint64_t request; /* of the plan that it waits for */
	session_on_plan fn;
	void *data;
};

uint64_t session_plan_for(struct session *s, const struct undo_wish *w, session_on_plan fn,
			  void *data)
{
	const char *const paths[] = {w->path, NULL};
	uint64_t request = w->kind == UNDO_PATHS
				   ? client_restore_plan(s->client, w->step, paths, w->flags)
				   : client_plan(s->client, w->kind, w->n, w->flags);
	struct guest *g;

	if (!request)
		return 0;
	session_drop_guest(s, data); /* the newest wish counts */
	g = xcalloc(1, sizeof(*g));
	*g = (struct guest){.request = request, .fn = fn, .data = data};
	LL_APPEND(s->guests, g);
	return request;
}

void session_drop_guest(struct session *s, const void *data)
{
	struct guest *g, *next;

	LL_FOREACH_SAFE (s->guests, g, next) {
		if (g->data != data)
			continue;
		LL_DELETE(s->guests, g);
		free(g);
	}
}

bool session_guest_plan(struct session *s, uint64_t request, const struct undo_plan *plan,
			int result, const char *words)
{
	struct guest *g;

	LL_SEARCH_SCALAR(s->guests, g, request, request);
	if (!g)
		return false;
	LL_DELETE(s->guests, g);
	g->fn(g->data, request, plan, result, words);
	free(g);
	return true;
}

void session_guests_done(struct session *s)
{
	struct guest *g, *next;

	LL_FOREACH_SAFE (s->guests, g, next) {
		free(g);
	}
	s->guests = NULL;
}

uint64_t session_undo_for(struct session *s, const struct undo_wish *w,
			  const struct plan_shown *shown, struct err *err)
{
	const char *const paths[] = {w->path, NULL};
	uint64_t request;

	if (s->model.job.active) {
		err_say(err, -EBUSY, "another undo is under way: wait for its end");
		return 0;
	}
	/* The keeper holds an undo to its newest step; which rollback a redo brings back is known
	 * here. */
	if (w->kind == UNDO_REDO && shown->undos != s->model.undos) {
		err_say(err, -ESTALE, "the history has changed meanwhile: look again");
		return 0;
	}
	request = w->kind == UNDO_PATHS ? client_restore(s->client, w->step, paths, w->flags)
					: client_undo(s->client, w->kind, w->n, w->flags,
						      shown->newest, shown->seal);
	if (!request) {
		err_say(err, -E2BIG, "the path is too long");
		return 0;
	}
	return session_begin_job(s, w->kind, request);
}
