/* held - tells the user and the audit log of steps that a safeguard holds or has stopped. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/session/session_priv.h"

static void audit_limit(struct session *s, int64_t step, int64_t pid, enum loss what,
			const char *path, const char *command, const char *words)
{
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_SAFEGUARD,
				 .step = step,
				 .pid = (int)pid,
				 .latency_us = -1,
				 .op = guard_verb(what),
				 .path = path,
				 .command = command,
				 .detail = words,
			 });
}

void session_on_held(struct session *s, const struct guard_report *r)
{
	AUTO_FREE char *words = NULL;
	struct guard_report told = *r;

	told.ask = session_ask_id(s, r->ask);
	if (!model_set_held(&s->model, &told)) /* more of its calls wait */
		return;
	s->model.decisions.asked++;
	if (r->what == LOSS_BEYOND)
		words = xstrdup("safeguard.beyond: undo cannot keep it; the whole step is held");
	else
		words = xasprintf("%s: %llu done; the whole step is held", guard_setting(r->what),
				  (unsigned long long)r->count);
	model_add_row(&s->model, ROW_ASK, r->step, (int)r->pid, 0, guard_verb(r->what),
		      r->n_would ? r->would[0] : "", words);
	audit_limit(s, r->step, r->pid, r->what, r->n_would ? r->would[0] : NULL, r->command,
		    words);
}

/* Logs a denial that no user gave. */
static void audit_denied(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *words =
		xasprintf("%s = %llu", guard_setting(ev->loss), (unsigned long long)ev->total);

	if (ev->why == GUARD_HEADLESS)
		audit_limit(s, ev->step, 0, ev->loss, NULL, ev->command, words);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_DECISION,
				 .step = ev->step,
				 .latency_us = -1,
				 .result = -EPERM,
				 .op = guard_verb(ev->loss),
				 .command = ev->command,
				 .by = ev->why == GUARD_TIMED_OUT ? "time-out" : "nobody: headless",
				 .detail = ev->why == GUARD_TIMED_OUT ? "deny: no answer in time"
								      : "deny: nobody to ask",
			 });
}

/* Returns one line in the usual form: what: why: what to do. Cuts a long command short, so that the
 * bar has room for the rest. */
static char *stopped_words(const struct client_event *ev)
{
	static const char *const why[] = {
		[GUARD_DENIED] = "denied",
		[GUARD_TIMED_OUT] = "nobody answered in time",
		[GUARD_HEADLESS] = "nobody is there to ask",
	};
	char step[32] = "", limit[64];

	if (ev->step) /* as `cordon log` names it */
		snprintf(step, sizeof(step), "step %lld ", (long long)ev->step);
	if (ev->loss == LOSS_BEYOND)
		snprintf(limit, sizeof(limit), "what undo can keep (safeguard.beyond)");
	else
		snprintf(limit, sizeof(limit), "%s = %llu", guard_setting(ev->loss),
			 (unsigned long long)ev->total);
	if (ev->result < 0)
		return xasprintf("%s'%.40s' was stopped at %s, but not rolled back: %s: look at "
				 "it with cordon log",
				 step, ev->command, limit, ev->reason);
	if (*ev->reason)
		return xasprintf("%s'%.40s' was stopped at %s, but not all of it could be brought "
				 "back: %s: look at it with cordon log",
				 step, ev->command, limit, ev->reason);
	return xasprintf("%s'%.40s' was stopped and rolled back: it reached %s, %s: cordon redo "
			 "brings back what it did",
			 step, ev->command, limit, why[ev->why]);
}

static void notice_stopped(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *words = xasprintf(
		"A safeguard (%s) stopped '%.200s', %s.",
		ev->loss == LOSS_BEYOND ? "safeguard.beyond" : guard_setting(ev->loss), ev->command,
		ev->result < 0 ? "and could not take back what it had changed"
			       : "and took back what it had changed");

	session_notice(s, words);
}

void session_on_stopped(struct session *s, const struct client_event *ev)
{
	struct model *m = &s->model;
	struct step_row *row = model_step(m, ev->step);

	free(m->stopped);
	m->stopped = stopped_words(ev);
	m->n_stopped++;
	m->decisions.by_nobody += ev->why == GUARD_TIMED_OUT;
	m->undos += ev->result >= 0; /* redo brings it back first */
	if (row)
		row->undone = ev->result >= 0;
	if (ev->why != GUARD_DENIED) /* else the user's answer is in the log */
		audit_denied(s, ev);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_UNDO,
				 .step = ev->step,
				 .result = ev->result,
				 .latency_us = -1,
				 .command = ev->command,
				 .detail = m->stopped,
			 });
	model_add_row(m, ROW_NOTE, ev->step, 0, ev->result, "safeguard", m->stopped, NULL);
	notice_stopped(s, ev);
	if (s->on->stopped)
		s->on->stopped(s->data, m->stopped);
}
