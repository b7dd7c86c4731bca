/* asking - questions and answers of a session: from the keeper, to and from the user, and rules. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/policy/rules/rules.h"
#include "core/policy/written.h"
#include "core/session/answers/answers.h"
#include "core/session/start/own_settings.h"
#include "core/session/session_priv.h"

/* ---- from the keeper ------------------------------------------------------------------------- */

void session_note_ask(struct session *s, const struct ask *a)
{
	s->model.decisions.asked++;
	model_add_ask(&s->model, a);
	model_add_row(&s->model, ROW_ASK, a->step, a->pid, 0,
		      a->kind == RULE_READ && a->is_dir ? "list" : a->op, a->path, a->reason);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_ASK,
				 .step = a->step,
				 .pid = a->pid,
				 .latency_us = -1,
				 .op = a->op,
				 .path = a->path,
				 .program = a->program,
				 .command = a->command,
				 .detail = a->reason,
			 });
}

void session_on_ask(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *command = session_argv_text(ev);

	session_note_ask(s, &(struct ask){
				    .id = session_ask_id(s, ev->id),
				    .step = ev->step,
				    .pid = (int)ev->pid,
				    .since_us = clock_mono_us(),
				    .kind = ev->rule_kind,
				    .is_dir = ev->flags & ASK_DIR,
				    .has_step = ev->flags & ASK_STEP,
				    .secret = ev->flags & ASK_SECRET,
				    .no_dir = ev->flags & ASK_NO_DIR,
				    .no_tree = ev->flags & ASK_NO_TREE,
				    .timeout_s = ev->timeout_s,
				    .call_only = ev->flags & ASK_CALL_ONLY,
				    .via = (char *)(uintptr_t)ev->via,
				    .label = (char *)(uintptr_t)ev->label,
				    .up = ev->up,
				    .bundle = (char *)(uintptr_t)ev->bundle,
				    .places = (char *)(uintptr_t)ev->places,
				    .op = (char *)(uintptr_t)ev->op,
				    .path = (char *)(uintptr_t)ev->path,
				    .program = (char *)(uintptr_t)ev->program,
				    .command = command,
				    .reason = (char *)(uintptr_t)ev->reason,
			    });
}

/* Records a timeout as a denial, so that a user who looks later sees why. */
void session_note_timeout(struct session *s, const struct ask *a)
{
	static const char words[] = "deny: no answer in time";

	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_DECISION,
				 .step = a->step,
				 .pid = a->pid,
				 .result = -EACCES,
				 .latency_us = -1,
				 .op = a->op,
				 .path = a->path,
				 .by = "time-out",
				 .detail = words,
			 });
	model_add_row(&s->model, ROW_DECISION, a->step, a->pid, -EACCES, a->op, a->path, words)
		->ask = a->id;
	s->model.decisions.by_nobody++;
}

/* Adds a row about a caller that was killed or interrupted, so that the question has an end in the
 * list. */
static void tell_withdrawn(struct session *s, const struct ask *a)
{
	AUTO_FREE char *words = xasprintf("withdrawn: %s %s", a->op, a->path);

	model_add_row(&s->model, ROW_NOTE, a->step, a->pid, 0, "note", words, NULL);
}

void session_on_ask_gone(struct session *s, const struct client_event *ev)
{
	uint64_t id = session_known_ask(s, ev->id);
	const struct ask *a = model_ask(&s->model, id);

	if (a && ev->end == ASK_TIMED_OUT && !a->held) /* else told when it is stopped */
		session_note_timeout(s, a);
	if (a && ev->end == ASK_LEFT && !a->held)
		tell_withdrawn(s, a);
	session_remove_ask(s, id);
}

void session_on_given(struct session *s, const struct client_event *ev)
{
	for (size_t i = s->model.n_given; i-- > 0;) {
		if (s->model.given[i].ask != ev->id)
			continue;
		s->model.given[i].rule = ev->rule;
		s->model.given_version++;
		s->model.version++;
		return;
	}
}

void session_on_given_over(struct session *s, const struct client_event *ev)
{
	for (size_t i = 0; i < s->model.n_given; i++) {
		if (s->model.given[i].rule != ev->rule)
			continue;
		s->model.given[i].over = true;
		s->model.given_version++;
		s->model.version++;
	}
}

/* Records what was revoked and what processes still hold open, in the model and the audit log. */
void session_on_left_open(struct session *s, const struct client_event *ev)
{
	const struct given *g = model_set_left(&s->model, ev->rule, ev->reason);
	AUTO_FREE char *words = xasprintf("still open of '%s': %s",
					  g ? g->words : "what rules allowed", ev->reason);

	if (!g && !ev->total)
		return;
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_RECOVERY,
				 .latency_us = -1,
				 .path = g ? g->object : NULL,
				 .detail = words,
			 });
}

void session_on_tallies(struct session *s, const struct client_event *ev)
{
	memcpy(s->model.decisions.reads, ev->tallies, sizeof(ev->tallies));
	s->model.version++;
}

/* ---- from the user --------------------------------------------------------------------------- */

static void notice_denial(struct session *s, const struct ask *a)
{
	AUTO_FREE char *words = xasprintf("The user denied: %s %.300s", a->op, a->path);

	session_notice(s, words);
}

/* Writes the user's answer to the audit log and the list before it has any effect. */
static void record_answer(struct session *s, const char *by, const struct ask *a,
			  const struct answer *given, const char *words)
{
	const char *op = a->held ? guard_verb(a->held->what) : a->op;
	int result = given->allow ? 0 : -EACCES;
	int64_t waited = clock_mono_us() - a->since_us;
	struct row *row;

	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_DECISION,
				 .step = a->step,
				 .pid = a->pid,
				 .result = result,
				 .latency_us = waited,
				 .op = op,
				 .path = a->path,
				 .command = a->held ? a->command : NULL,
				 .by = by,
				 .detail = words,
			 });
	session_flush_audit(s);
	row = model_add_row(&s->model, ROW_DECISION, a->step, a->pid, result, op, a->path, words);
	row->ask = a->id;
	row->scope = given->scope;
	s->model.decisions.waited_us += (uint64_t)waited;
	if (given->allow)
		s->model.decisions.allowed++;
	else
		s->model.decisions.denied++;
	if (!given->allow && !a->held) /* session_on_stopped() tells of what a safeguard held */
		notice_denial(s, a);
}

/* Returns the name of the answer in settings: a bundle, or a place. Heap. */
static char *settled(const struct ask *a, const struct answer *given)
{
	return given->extent == EXTENT_BUNDLE ? xstrdup(a->bundle)
					      : answer_object(a->path, a->is_dir, given);
}

static void keep_given(struct session *s, const struct ask *a, const struct answer *given,
		       const char *words)
{
	AUTO_FREE char *object = a->held ? xstrdup(a->held->command) : settled(a, given);

	if (given->scope == SCOPE_ONCE || (a->held && !given->allow))
		return;
	model_add_given(&s->model, &(struct given){.ask = session_keeper_id(s, a->id),
						   .rule = a->own ? OWN_RULES + a->id : 0,
						   .kind = a->kind,
						   .answer = *given,
						   .object = object,
						   .words = (char *)(uintptr_t)words,
						   .wall_us = clock_wall_us()});
}

static struct rules_place place_of(const struct session *s)
{
	return (struct rules_place){
		.home = s->model.home, .config_home = s->config_home, .folder = s->cwd};
}

/* Writes a lasting answer to the settings, before anything else: if it cannot, the answer fails. */
static int persist(struct session *s, const struct ask *a, const struct answer *given,
		   struct err *err)
{
	AUTO_FREE char *object = settled(a, given);
	const struct rules_place where = place_of(s);

	if (given->scope <= SCOPE_SESSION || s->frozen)
		return 0;
	return rules_save(&where, given->scope, a->kind, object, given, err);
}

/* Keeps programs outside from running what this answer lets the agent's editor write. The keeper
 * does so for its own questions. */
static int note_written(const struct ask *a, const struct answer *given, struct err *err)
{
	AUTO_FREE char *object = settled(a, given);

	return a->own && a->kind == RULE_WRITE && given->allow
		       ? written_add_answer(object, given->extent, err)
		       : 0;
}

int session_answer(struct session *s, const char *by, uint64_t id, const struct answer *answer,
		   struct err *err)
{
	const struct ask *a = model_ask(&s->model, id);
	AUTO_BUF struct buf words = BUF_INIT;
	struct answer given = *answer;
	const char *refusal;
	int r;

	if (!a)
		return err_say(
			err, -ESRCH,
			"this request no longer waits: it was answered, or its program has ended");
	given.allow = given.allow && !s->frozen;
	refusal = answers_refusal(&s->model, a, &given);
	if (refusal)
		return err_say(err, -EPERM, "%s", refusal);
	r = persist(s, a, &given, err);
	if (r < 0)
		return r;
	r = note_written(a, &given, err);
	if (r < 0)
		return r;
	answers_words(&words, &s->model, a, &given);
	record_answer(s, by, a, &given, words.data);
	given.allow = given.allow && !s->frozen; /* the log may have failed in record_answer() */
	keep_given(s, a, &given, words.data);
	if (a->own)
		session_on_own_answer(s, id, given.allow);
	else
		client_answer(s->client, session_keeper_id(s, id), &given);
	session_remove_ask(s, id);
	if (s->on->changed)
		s->on->changed(s->data);
	return 0;
}

/* Denies the bundle's waiting requests, as the settings now move to another place. */
static void deny_bundle(struct session *s, const char *by, const char *bundle)
{
	static const struct answer no = {0};
	const struct model *m = &s->model;
	uint64_t ids[MODEL_ASKS];
	struct err err = {0};
	size_t n = 0;

	for (size_t i = 0; i < m->n_asks && n < MODEL_ASKS; i++)
		if (str_eq(m->asks[i].bundle, bundle))
			ids[n++] = m->asks[i].id;
	for (size_t i = 0; i < n; i++)
		session_answer(s, by, ids[i], &no, &err);
}

int session_own_settings(struct session *s, const char *by, uint64_t ask, struct err *err)
{
	const char *profile = s->model.own_offer;
	const struct ask *a = model_ask(&s->model, ask);
	AUTO_FREE char *words = NULL, *bundle = NULL;
	int r;

	if (!a)
		return err_say(
			err, -ESRCH,
			"this request no longer waits: it was answered, or its program has ended");
	if (!profile)
		return err_say(err, -EINVAL,
			       "this session has no copy to offer: its agent's profile names no "
			       "variable that moves its settings, or nobody can start it again");
	if (!a->bundle || !*a->bundle)
		return err_say(err, -EINVAL, "it is not about the settings of %s", profile);
	bundle = xstrdup(a->bundle);
	r = own_settings_save(s->model.home, s->config_home, s->cwd, profile, err);
	if (r < 0)
		return r;
	words = xasprintf("%s gets settings of its own for this folder", profile);
	session_audit(s, &(struct audit_entry){.event = AUDIT_DECISION,
					       .latency_us = -1,
					       .op = "own-settings",
					       .path = s->cwd,
					       .by = by,
					       .detail = words});
	session_flush_audit(s);
	model_add_row(&s->model, ROW_DECISION, 0, 0, 0, "own-settings", s->cwd, words);
	deny_bundle(s, by, bundle);
	s->on->restart(s->data);
	return 0;
}

/* Removes what an answer wrote to the settings. Returns NULL: done, or nothing was written; else
 * why it could not. */
static char *unpersist(const struct session *s, const struct given *g)
{
	const struct rules_place where = place_of(s);
	struct err err = {0};
	int r;

	if (g->answer.scope <= SCOPE_SESSION)
		return NULL;
	r = rules_forget(&where, g->answer.scope, g->kind, g->object, &g->answer, &err);
	return r < 0 ? xasprintf("; the settings still have it: %s", err.text) : NULL;
}

void session_revoke(struct session *s, const char *by, uint64_t rule)
{
	for (size_t i = 0; i < s->model.n_given; i++) {
		struct given *g = &s->model.given[i];
		AUTO_FREE char *words = NULL, *left = NULL;

		if (g->rule != rule || g->over)
			continue;
		left = unpersist(s, g);
		words = xasprintf("taken back: %s%s", g->words, left ? left : "");
		session_audit(s, &(struct audit_entry){
					 .event = AUDIT_DECISION,
					 .latency_us = -1,
					 .op = "revoke",
					 .path = g->object,
					 .by = by,
					 .detail = words,
				 });
		session_flush_audit(s);
		model_add_row(&s->model, ROW_DECISION, 0, 0, 0, "revoke", g->object, words);
		if (!session_rule_is_own(rule)) {
			client_revoke(s->client, rule);
			continue;
		}
		g->over = true;
		s->model.given_version++;
	}
}
