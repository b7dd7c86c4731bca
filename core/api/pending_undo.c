/* pending_undo - the undo, redo or restore of a session that is in progress, until its answer. */
/* SPDX-License-Identifier: MIT */
#include "core/api/pending_undo.h"

#include <errno.h>

static void ended(struct pending_undo *u, int result, const char *words, const struct undo_plan *p)
{
	engine_on_undo fn = u->fn;

	u->request = 0;
	u->fn = NULL;
	util_free_list(&u->paths);
	if (fn)
		fn(u->data, result, words ? words : "", p);
}

static void begin_restore(struct pending_undo *u, struct session *s)
{
	u->planning = false;
	u->request = session_restore(s, u->step, (const char *const *)u->paths, u->flags);
}

void pending_undo_check(struct pending_undo *u, struct session *s)
{
	const struct model *m = session_model(s);
	const struct undo_plan *p = m->plan_request == u->request ? m->plan : NULL;

	if (!u->request)
		return;
	if (u->planning && p && u->paths)
		begin_restore(u, s);
	else if (u->planning && p)
		ended(u, 0, NULL, p);
	else if (u->planning && m->plan_refused)
		ended(u, m->plan_refused_by, m->plan_refused, NULL);
	else if (!u->planning && !m->job.active)
		ended(u, m->job.result, m->job.words, m->plan);
}

int pending_undo_begin(struct pending_undo *u, struct session *s, const struct undo_call *c,
		       engine_on_undo fn, void *data, struct err *err)
{
	if (u->request || session_model(s)->job.active)
		return err_say(err, -EBUSY, "another undo is under way: wait for its end");
	if (!c->shown)
		session_forget_plan(s);
	if (c->kind == UNDO_PATHS)
		u->request = session_restore_plan(s, c->step, c->paths, c->flags);
	else if (c->plan_only)
		u->request = session_plan(s, c->kind, c->n, c->flags);
	else if (c->shown)
		u->request = session_undo_for(
			s, &(struct undo_wish){.kind = c->kind, .n = c->n, .flags = c->flags},
			c->shown, err);
	else
		u->request = session_undo(s, c->kind, c->n, c->flags);
	if (!u->request && c->shown)
		return err->code;
	if (!u->request)
		return err_say(err, -E2BIG, "too many paths: name fewer, or a directory");
	if (c->kind == UNDO_PATHS && !c->plan_only)
		u->paths = util_list_copy(c->paths);
	u->step = c->step;
	u->flags = c->flags;
	u->planning = c->plan_only || u->paths;
	u->fn = fn;
	u->data = data;
	return 0;
}

void pending_undo_done(struct pending_undo *u)
{
	util_free_list(&u->paths);
}
