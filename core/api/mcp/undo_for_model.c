/* undo_for_model - undo and redo that a model requests through MCP. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/api/stdio/serve_priv.h"
#include "core/base/path.h"
#include "core/keeper/wire.h"

/*
 * A model undoes its own steps of this session, and redoes its own undos. Changes of the user, or
 * of the user's programs, stay. It does not undo past an external edit. The keeper judges each name
 * that would change as if the agent wrote it (core/keeper/agent_undo.h); where the policy asks, one
 * question is put to the user.
 *
 * Life: a plan -> refused; or performed, held to that plan; or a question -> its answer -> the
 * same.
 */

#define NAMED_MAX 5 /* most files named in a question */

/* ---- steps of the model ---------------------------------------------------------------------- */

static void id_add(struct id_list *l, int64_t id)
{
	l->ids = xrealloc(l->ids, (l->n + 1) * sizeof(*l->ids));
	l->ids[l->n++] = id;
}

static bool id_in(const struct id_list *l, int64_t id)
{
	for (size_t i = l->n; i-- > 0;)
		if (l->ids[i] == id)
			return true;
	return false;
}

void model_made(struct serve *s, const struct request *r, int64_t step)
{
	if (r->answered && step)
		id_add(&s->made, step);
}

void model_forget(struct serve *s)
{
	free(take_ptr(&s->made.ids));
	free(take_ptr(&s->undone.ids));
	s->made.n = s->undone.n = 0;
	s->undos = 0;
}

static enum undo_kind kind_of(const struct request *r)
{
	return r->op->fn == op_redo ? UNDO_REDO : UNDO_BACK;
}

static bool is_own(const struct serve *s, int64_t id)
{
	const struct step_row *row = model_step(session_model(engine_session(s->engine)), id);

	if (!row || row->earlier)
		return false;
	return row->kind == STEP_AMBIENT || id_in(&s->made, id) ||
	       (row->kind == STEP_COMMAND && !s->channel);
}

/* Returns whether the model's undo is the newest undo or redo of all. */
static bool is_last(const struct serve *s)
{
	return engine_model(s->engine)->undos == s->undos;
}

static int check_own(const struct serve *s, const struct request *r, const struct undo_plan *p,
		     struct fault *f)
{
	bool redo = kind_of(r) == UNDO_REDO;

	for (size_t i = 0; i < p->n_ids; i++) {
		int64_t id = p->ids[i];

		if (redo ? is_last(s) && id_in(&s->undone, id) : is_own(s, id))
			continue;
		return fault_say(f, FAULT_UNDO_FAILED,
				 redo ? "step %lld was not undone by you last: only the user "
					"brings it back"
				      : "step %lld is not one of yours, of this session: only the "
					"user takes it back",
				 (long long)id);
	}
	return 0;
}

void model_undo_done(struct serve *s, const struct request *r, const struct undo_plan *plan)
{
	const uint64_t undos = engine_model(s->engine)->undos;

	if (!r->answered || !plan)
		return;
	if (s->undos + 1 != undos)
		s->undone.n = 0;
	for (size_t i = 0; kind_of(r) == UNDO_BACK && i < plan->n_ids; i++)
		id_add(&s->undone, plan->ids[i]);
	s->undos = undos;
}

/* ---- doing it -------------------------------------------------------------------------------- */

void model_refuse(struct request *r, int result, const char *words, const struct undo_plan *plan)
{
	if (result == -EACCES) {
		serve_respond(r, fault_say(&r->fault, FAULT_FS_DENIED, "%s", words));
		return;
	}
	if (result == -ESTALE)
		words = "the user, or a program of theirs, has changed files since: they stay as "
			"they are, and nothing was undone or redone. Only the user can go over "
			"such "
			"edits: tell them";
	serve_respond(r, describe_undo_fault(&r->fault, result, words, plan));
}

/* Performs the undo. flags: WIRE_UNDO_OF_AGENT if the user was not asked. */
static void perform(struct request *r, unsigned flags)
{
	struct serve *s = r->serve;
	struct err err = {0};
	const struct undo_call call = {
		.kind = kind_of(r), .n = r->n, .flags = flags, .shown = &r->shown};

	r->undoes = true;
	if (engine_undo(s->engine, &call, serve_undone, s, &err) == 0)
		return;
	r->undoes = false;
	serve_respond(r, fault_err(&r->fault, FAULT_UNDO_BUSY, &err));
}

static void on_plan(void *data, int result, const char *words, const struct undo_plan *p);

static void plan(struct request *r)
{
	const struct undo_call call = {
		.kind = kind_of(r), .n = r->n, .flags = WIRE_UNDO_OF_AGENT, .plan_only = true};
	struct err err = {0};

	r->undoes = true;
	if (engine_undo(r->serve->engine, &call, on_plan, r->serve, &err) == 0)
		return;
	r->undoes = false;
	serve_respond(r, fault_err(&r->fault, FAULT_UNDO_BUSY, &err));
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void finish(struct request *r, bool allow)
{
	r->asks = false;
	r->ask = 0;
	r->allowed = allow;
	if (allow)
		plan(r);
	else
		serve_respond(r, fault_say(&r->fault, FAULT_FS_DENIED,
					   "it would change protected files, and the user did not "
					   "allow it: nothing was changed"));
}

void model_undo_answered(void *serve, uint64_t ask, bool allow)
{
	struct serve *s = serve;
	struct request *r = s->open;

	s->answered = ask;
	s->allowed = allow;
	while (r && r->ask != ask)
		r = r->next;
	if (r && r != s->asking)
		finish(r, allow);
}

bool model_withdraw(struct request *r)
{
	if (!r->asks || !r->ask)
		return false;
	session_withdraw(engine_session(r->serve->engine), r->ask);
	serve_respond(r, fault_say(&r->fault, FAULT_AGENT_CANCELLED, "it was cancelled"));
	return true;
}

static bool is_asked(const struct undo_entry *e)
{
	return e->why && !e->conflict;
}

static char *path_of(const struct serve *s, const struct undo_entry *e)
{
	return path_join(e->base ? e->base : engine_model(s->engine)->folder,
			 e->other ? e->other : e->path);
}

/* Returns the question: "redo of step 3: git on the host runs it; also .git/hooks/b and 2 more". */
static char *question(const struct undo_plan *p, const struct undo_entry *first)
{
	AUTO_BUF struct buf out = BUF_INIT;
	size_t n = 0;

	buf_fmt(&out, "%s of step %lld: %s", p->kind == UNDO_REDO ? "redo" : "undo",
		(long long)p->ids[0], first->why);
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct undo_entry *e = &p->entries[i];

		if (e == first || !is_asked(e))
			continue;
		if (n++ < NAMED_MAX)
			buf_fmt(&out, "%s%s", n == 1 ? "; also " : ", ", e->path);
	}
	if (n > NAMED_MAX)
		buf_fmt(&out, " and %zu more", n - NAMED_MAX);
	return buf_take(&out);
}

static void ask(struct request *r, const struct undo_entry *first)
{
	struct serve *s = r->serve;
	AUTO_FREE char *path = path_of(s, first);
	uint64_t id;

	r->asks = true;
	s->asking = r; /* the answer may come before session_ask() returns */
	id = session_ask(engine_session(s->engine), &(struct own_ask){.kind = RULE_WRITE,
								      .op = "write",
								      .path = path,
								      .via = "",
								      .reason = r->asked,
								      .program = "an MCP client",
								      .whole = true,
								      .timeout_s = s->ask_timeout});
	s->asking = NULL;
	r->ask = id;
	if (!id || s->answered == id)
		finish(r, id && s->allowed);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Returns whether this plan does exactly what the user has allowed. */
static bool is_as_asked(const struct request *r, const struct undo_plan *p, const char *words)
{
	return p->ids[0] == r->shown.newest &&
	       engine_model(r->serve->engine)->undos == r->shown.undos && str_eq(words, r->asked);
}

static void show(struct request *r, const struct undo_plan *p)
{
	r->shown = (struct plan_shown){.newest = p->ids[0],
				       .seal = p->seal,
				       .undos = engine_model(r->serve->engine)->undos};
}

static void decide(struct request *r, const struct undo_plan *p)
{
	const struct undo_entry *first = NULL;
	AUTO_FREE char *words = NULL;

	for (size_t i = 0; !first && i < p->n_entries; i++)
		first = is_asked(&p->entries[i]) ? &p->entries[i] : NULL;
	words = first ? question(p, first) : NULL;
	if (r->allowed && !is_as_asked(r, p, words)) {
		serve_respond(r, fault_say(&r->fault, FAULT_UNDO_BUSY,
					   "the history has changed meanwhile: try again"));
		return;
	}
	show(r, p);
	if (!first || r->allowed) {
		perform(r, r->allowed ? 0 : WIRE_UNDO_OF_AGENT);
		return;
	}
	r->asked = take_ptr(&words);
	ask(r, first);
}

static void on_plan(void *data, int result, const char *words, const struct undo_plan *p)
{
	struct serve *s = data;
	struct request *r;

	for (r = s->open; r && !r->undoes; r = r->next)
		continue;
	if (!r)
		return;
	r->undoes = false;
	if (result < 0 || !p || !p->n_ids) {
		model_refuse(r, result < 0 ? result : -ENOENT, words, p);
	} else if (check_own(s, r, p, &r->fault) < 0) {
		serve_respond(r, -1);
	} else if (serve_flag(r, "dry_run")) {
		r->result = describe_plan(p, true);
		serve_respond(r, 0);
	} else if (undo_plan_stops(p)) {
		show(r, p);
		perform(r, WIRE_UNDO_OF_AGENT); /* the keeper refuses it, and records that */
	} else {
		decide(r, p);
	}
}

int model_undo(struct serve *s, struct request *r, const struct undo_call *call)
{
	(void)s;
	r->n = call->n;
	plan(r);
	return 1;
}
