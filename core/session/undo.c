/* undo - plans and jobs: undo, redo and restore, for a console and for programs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/session/session_priv.h"

static uint64_t ask_plan(struct session *s, uint64_t request)
{
	free(s->model.plan_refused);
	s->model.plan_refused = NULL;
	s->plan_asked = request;
	return request;
}

uint64_t session_plan(struct session *s, enum undo_kind kind, size_t n, unsigned flags)
{
	return ask_plan(s, client_plan(s->client, kind, n, flags));
}

uint64_t session_restore_plan(struct session *s, int64_t step, const char *const *paths,
			      unsigned flags)
{
	return ask_plan(s, client_restore_plan(s->client, step, paths, flags));
}

void session_forget_plan(struct session *s)
{
	undo_plan_free(s->model.plan);
	s->model.plan = NULL;
	s->model.plan_request = 0;
}

/* Makes the request the job of the model, and returns it. */
static uint64_t session_begin_job(struct session *s, enum undo_kind kind, uint64_t request)
{
	struct job *job = &s->model.job;

	s->job_of_client = false;
	free(job->words);
	*job = (struct job){.kind = kind, .request = request, .active = true};
	s->model.version++;
	return request;
}

uint64_t session_undo(struct session *s, enum undo_kind kind, size_t n, unsigned flags)
{
	const struct undo_plan *p = s->model.plan;
	bool shown = p && p->kind == kind && p->n == n && p->n_ids;
	bool same = shown && ((p->flags ^ flags) & UNDO_SETTLES & ~(unsigned)UNDO_CROSS) == 0;

	session_load_earlier(s);
	return session_begin_job(
		s, kind,
		client_undo(s->client, kind, n, flags, shown ? p->ids[0] : 0, same ? p->seal : 0));
}

uint64_t session_restore(struct session *s, int64_t step, const char *const *paths, unsigned flags)
{
	session_load_earlier(s);
	return session_begin_job(s, UNDO_PATHS, client_restore(s->client, step, paths, flags));
}

uint64_t session_restore_hunk(struct session *s, int64_t step, const char *path, unsigned hunk)
{
	session_load_earlier(s);
	return session_begin_job(s, UNDO_PATHS, client_restore_hunk(s->client, step, path, hunk));
}

void session_cancel(struct session *s)
{
	if (!s->model.job.active)
		return;
	s->model.job.cancelled = true;
	s->model.version++;
	client_cancel(s->client, s->model.job.request);
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
	/* The keeper compares an undo with its newest step, but only the model knows which rollback
	 * a redo brings back. */
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
	session_begin_job(s, w->kind, request);
	s->job_of_client = true;
	return request;
}
