/* events - takes the keeper's reports into the model for the user and into the audit log. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/keeper/service.h"
#include "core/keeper/steps/label.h"
#include "core/record/redact.h"
#include "core/session/session_priv.h"

#define CROWD_US  INT64_C(1000000) /* between two rows about a flood, at first */
#define CROWD_MAX (64 * CROWD_US)

/* If the audit log cannot be written, the keeper is told to deny all changes. */
void session_audit(struct session *s, const struct audit_entry *e)
{
	static const char words[] = "the audit log cannot be written: every change is denied: "
				    "end the session, free space, and start again";
	static const char counting[] = "this session has written so much that programs, changes "
				       "and refusals are only counted from here on";
	bool was;
	int r;

	if (s->frozen || !s->audit)
		return;
	was = audit_is_counting(s->audit);
	r = audit_append(s->audit, e);
	if (r == 0 && !was && audit_is_counting(s->audit)) {
		log_info("session", "audit log: %s", counting);
		model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "audit", counting, NULL);
	}
	if (r == 0)
		return;
	s->frozen = true;
	client_freeze(s->client);
	log_error("session", "audit log cannot be written: %s", strerror(-r));
	model_add_row(&s->model, ROW_NOTE, 0, 0, r, "audit", words, strerror(-r));
	if (s->on->frozen)
		s->on->frozen(s->data, words);
}

char *session_decided_by(const char *words)
{
	bool rule = str_starts(words, "rule '") || str_starts(words, "the command line");
	const char *says = rule ? strstr(words, " says ") : NULL;

	if (says)
		return xstrndup(words, (size_t)(says - words));
	return str_starts(words, "you ") ? xstrdup("your answer") : NULL;
}

void session_tell_crowd(struct session *s)
{
	const int64_t now = clock_mono_us();
	AUTO_FREE char *words = NULL;

	if (!s->crowd || now < s->crowd_at)
		return;
	words = xasprintf("%" PRIu64 " further request%s", s->crowd, s->crowd == 1 ? "" : "s");
	model_add_row(&s->model, ROW_DENY, 0, 0, -EACCES, "flood", words,
		      "too many requests wait for an answer; the audit log has each");
	s->crowd = 0;
	s->crowd_us = MIN(2 * s->crowd_us, CROWD_MAX);
	s->crowd_at = now + s->crowd_us;
}

/* Returns whether a refused request is the first of a flood. The others are counted in rows at
 * growing intervals, so that other events stay in sight. */
static bool leads_crowd(struct session *s)
{
	const int64_t now = clock_mono_us();
	const bool first = now > s->crowd_at + 2 * CROWD_MAX || !s->crowd_us;

	if (first) {
		s->crowd_us = CROWD_US;
		s->crowd_at = now + CROWD_US;
	} else {
		s->crowd++;
		session_tell_crowd(s);
	}
	return first;
}

static void on_touch(struct session *s, const struct client_event *ev, bool denied)
{
	AUTO_FREE char *by = session_decided_by(ev->reason);
	struct step_row *step = model_step(&s->model, ev->step);
	struct row *row;

	session_audit(s, &(struct audit_entry){
				 .event = denied ? AUDIT_DENY : AUDIT_TOUCH,
				 .step = ev->step,
				 .pid = (int)ev->pid,
				 .result = ev->result,
				 .latency_us = -1,
				 .op = ev->op,
				 .path = ev->path,
				 .path2 = *ev->path2 ? ev->path2 : NULL,
				 .by = by || !ev->unasked ? by : "nobody: headless",
				 .detail = denied && *ev->reason ? ev->reason : NULL,
			 });
	if (step && !denied)
		step->paths++;
	if (ev->crowded && !leads_crowd(s))
		return;
	row = model_add_row(&s->model, denied ? ROW_DENY : ROW_TOUCH, ev->step, (int)ev->pid,
			    ev->result, ev->op, ev->path, denied ? ev->reason : ev->path2);
	row->unasked = denied && ev->unasked;
	row->expected = denied && ev->expected;
	s->model.decisions.looked += denied && str_eq(ev->op, LOOKED_FOR);
}

/* argv as one line: NULs become blanks. Heap. */
char *session_argv_text(const struct client_event *ev)
{
	char *text = xmalloc(ev->command_len + 1);

	memcpy(text, ev->command, ev->command_len);
	text[ev->command_len] = '\0';
	for (size_t i = 0; i + 1 < ev->command_len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return text;
}

static void on_exec(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *command = session_argv_text(ev);
	AUTO_BUF struct buf evaluated = BUF_INIT;

	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_EXEC,
				 .step = ev->step,
				 .pid = (int)ev->pid,
				 .latency_us = -1,
				 .op = "exec",
				 .path = ev->path,
				 .command = command,
			 });
	/* The audit log has the whole command. */
	if (!label_evaluated(&evaluated, ev->command, ev->command_len))
		buf_str(&evaluated, command);
	model_add_exec(&s->model, ev->step, (int)ev->pid, evaluated.data, ev->path)->parent =
		(int)ev->parent;
}

static void on_ran(struct session *s, const struct client_event *ev)
{
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_RAN,
				 .latency_us = -1,
				 .result = (int)ev->status,
				 .command = ev->command,
			 });
}

static void on_step_begin(struct session *s, const struct client_event *ev)
{
	model_add_step(&s->model, ev->step, ev->kind, ev->command, ev->wall_us);
	s->turns_stale = true;
}

static void on_turn(struct session *s, const struct client_event *ev)
{
	free(s->model.prompt);
	s->model.prompt = xstrdup(ev->command);
	s->model.prompts += ev->begins || !s->model.prompts;
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_TURN,
				 .latency_us = -1,
				 .op = ev->begins ? NULL : "named",
				 .detail = ev->command,
			 });
	session_note_traffic(s);
	session_rests(s, false);
	s->model.version++;
	s->turns_stale = true;
}

static void on_agent_asks(struct session *s, const struct client_event *ev)
{
	session_agent_asks(s, ev->begins);
	s->model.hook_asks = true;
}

static void on_agent_rests(struct session *s, const struct client_event *ev)
{
	session_rests(s, ev->begins);
	session_review_pump(s, false);
}

/* Reports an incomplete step, which the user could otherwise take for one that can be undone. The
 * console has one line for it, so the command, which may be long, comes last. */
static void say_incomplete(struct session *s, const struct step_row *step, const char *why)
{
	AUTO_FREE char *words =
		xasprintf("step %lld cannot be undone as a whole: %s (%.200s)", (long long)step->id,
			  why, step->command ? step->command : "");

	if (s->keeps && s->on->stopped)
		s->on->stopped(s->data, words);
}

static void on_step_end(struct session *s, const struct client_event *ev)
{
	struct step_row *step = model_step(&s->model, ev->step);

	if (step) {
		if (ev->kept && *ev->reason)
			say_incomplete(s, step, ev->reason);
		step->running = false;
		step->ended_us = ev->wall_us;
		step->exit_status = (int)ev->status;
		step->paths = ev->done;
		step->incomplete = *ev->reason != '\0';
		step->elsewhere = ev->elsewhere;
		step->granted = ev->granted;
		if (*ev->command) {
			free(step->command);
			step->command = xstrdup(ev->command);
		}
		if (!ev->kept) {
			model_remove_step(&s->model, ev->step);
			s->edits_stale = s->model.n_edits > 0; /* their place has changed */
		}
		s->model.version++;
	}
	if (!ev->kept)
		return;
	s->counts_stale = true;
	if (!ev->elsewhere) /* the agent's own notes end no redo */
		model_end_redo(&s->model);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_STEP,
				 .step = ev->step,
				 .latency_us = -1,
				 .result = MAX(0, (int)ev->status), /* -1: no command */
				 .command = step ? step->command : NULL,
				 .detail = *ev->reason ? ev->reason : NULL,
			 });
}

static void on_step_undone(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *words = xasprintf("a program inside rolled '%s' back", ev->command);

	model_add_row(&s->model, ROW_NOTE, ev->step, 0, 0, "undo", words, NULL);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_UNDO,
				 .step = ev->step,
				 .latency_us = -1,
				 .inside = true,
				 .detail = words,
			 });
	s->model.undos++; /* a redo restores other steps now */
	session_reload_undone(s);
}

/* Notes that an undo, a redo or a restore has ended, in the list and in the audit log. */
static void note_done(struct session *s, const struct client_event *ev)
{
	enum undo_kind kind = s->model.job.kind;
	const char *verb = kind == UNDO_REDO	? "brought back"
			   : kind == UNDO_PATHS ? "restored"
						: "rolled back";
	AUTO_FREE char *words = ev->result == 0 ? session_undo_words(s, verb) : xstrdup(ev->reason);

	model_add_row(&s->model, ROW_NOTE, 0, 0, ev->result, kind == UNDO_REDO ? "redo" : "undo",
		      words, NULL);
	session_audit(s, &(struct audit_entry){
				 .event = kind == UNDO_REDO ? AUDIT_REDO : AUDIT_UNDO,
				 .latency_us = -1,
				 .result = ev->result,
				 .detail = words,
			 });
}

static void on_done(struct session *s, const struct client_event *ev)
{
	struct job *job = &s->model.job;

	if (ev->id == s->plan_asked) { /* a plan that succeeds comes as WIRE_PLAN instead */
		s->model.plan_refused = xstrdup(ev->reason);
		s->model.plan_refused_by = ev->result;
		s->model.version++;
		return;
	}
	if (job->request != ev->id)
		return;
	job->active = false;
	if (session_review_waits(s, ev->id, ev->result))
		return;
	job->result = ev->result;
	free(job->words);
	job->words = xstrdup(ev->reason);
	s->model.version++;
	s->model.undos += ev->result == 0;
	note_done(s, ev);
	session_review_done(s, ev->id, ev->result, job->words);
}

static struct undo_plan *copy_plan(const struct undo_plan *from)
{
	struct undo_plan *p = xmalloc(sizeof(*p));

	*p = *from;
	p->ids = xcalloc(from->n_ids, sizeof(*p->ids));
	if (from->n_ids)
		memcpy(p->ids, from->ids, from->n_ids * sizeof(*p->ids));
	p->entries = xcalloc(from->n_entries, sizeof(*p->entries));
	for (size_t i = 0; i < from->n_entries; i++) {
		p->entries[i] = from->entries[i];
		p->entries[i].path = xstrdup(from->entries[i].path);
		p->entries[i].other = xstrdup(from->entries[i].other);
		p->entries[i].base = xstrdup(from->entries[i].base);
		p->entries[i].why = xstrdup(from->entries[i].why);
		p->entries[i].merge = NULL;
	}
	p->barriers = xcalloc(from->n_barriers, sizeof(*p->barriers));
	for (size_t i = 0; i < from->n_barriers; i++) {
		const struct barrier *b = &from->barriers[i];

		p->barriers[i] = *b;
		p->barriers[i].paths = xcalloc(b->n_paths, sizeof(char *));
		for (size_t k = 0; k < b->n_paths; k++)
			p->barriers[i].paths[k] = xstrdup(b->paths[k]);
	}
	return p;
}

static void on_plan(struct session *s, const struct client_event *ev)
{
	undo_plan_free(s->model.plan);
	s->model.plan = copy_plan(ev->plan);
	s->model.plan_request = ev->id;
	s->model.version++;
}

static void on_exit_status(struct session *s, const struct client_event *ev)
{
	const uint64_t *n = s->model.decisions.reads;
	AUTO_FREE char *reads = n[0] ? xasprintf(AUDIT_READS, n[0], n[1], n[2], n[3], n[4]) : NULL;

	s->model.exited = true;
	s->model.wait_status = (int)ev->status;
	s->model.version++;
	session_note_traffic(s);
	session_shells_end(s);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_SESSION_END,
				 .latency_us = -1,
				 .result = util_exit_code((int)ev->status),
				 .detail = reads,
			 });
	if (s->on->exited)
		s->on->exited(s->data, (int)ev->status);
}

static void on_note(struct session *s, const struct client_event *ev)
{
	s->steps_stale = true; /* steps may have been pruned */
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0,
		      ev->note == HEARD_RECOVERED ? "recovery" : "note", ev->reason, NULL);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_RECOVERY,
				 .latency_us = -1,
				 .detail = ev->reason,
			 });
	if (ev->note != HEARD_QUIETLY && s->on->stopped)
		s->on->stopped(s->data, ev->reason);
}

static void on_external(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *more = NULL;

	if (ev->total)
		more = xasprintf("and %llu more", (unsigned long long)ev->total);
	s->edits_stale = true;
	model_add_row(&s->model, ROW_EXTERNAL, 0, 0, 0, "edit", ev->path, more);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_EXTERNAL,
				 .latency_us = -1,
				 .path = ev->path,
				 .detail = more,
			 });
}

static void on_started(struct session *s, const struct client_event *ev)
{
	(void)ev;
	s->model.started = true;
	s->model.version++;
}

/* Returns why cordon refused to run the program; else NULL. In the first case nothing has run. */
static const char *refused_to_run(const struct session *s)
{
	for (size_t i = s->model.row_count; i-- > 0;) {
		const struct row *r = model_row(&s->model, i);

		if (r->kind == ROW_DENY && r->more && str_eq(r->op, "execve"))
			return r->more;
	}
	return NULL;
}

static void on_start_failed(struct session *s, const struct client_event *ev)
{
	const char *why = refused_to_run(s);
	AUTO_FREE char *words = xasprintf("%s%s%s", ev->reason, why ? ": " : "", why ? why : "");

	s->ran = false;
	if (s->starting)
		s->start_failed = take_ptr(&words);
	else if (s->on->failed)
		s->on->failed(s->data, (int)ev->status, words);
}

static void on_touched(struct session *s, const struct client_event *ev)
{
	on_touch(s, ev, false);
}

static void on_denied(struct session *s, const struct client_event *ev)
{
	on_touch(s, ev, true);
}

static void on_held(struct session *s, const struct client_event *ev)
{
	session_on_held(s, ev->held);
}

static void on_progress(struct session *s, const struct client_event *ev)
{
	s->model.job.done = ev->done;
	s->model.job.total = ev->total;
	s->model.version++;
}

static void on_secret(struct session *s, const struct client_event *ev)
{
	/* If the list of secrets is full, the file is shown inside all the same; on->secret decides
	 * for the screen. */
	(void)redact_secret(s->redact, ev->path);
	if (!s->on->secret || s->on->secret(s->data, ev->path))
		client_secret_kept(s->client, ev->id);
}

/* Maps each report of the keeper to its handler. */
static void (*const handlers[])(struct session *s, const struct client_event *ev) = {
	[WIRE_STARTED] = on_started,
	[WIRE_START_FAILED] = on_start_failed,
	[WIRE_TOUCH] = on_touched,
	[WIRE_DENY] = on_denied,
	[WIRE_EXEC] = on_exec,
	[WIRE_RAN] = on_ran,
	[WIRE_STEP_BEGIN] = on_step_begin,
	[WIRE_STEP_END] = on_step_end,
	[WIRE_STEP_UNDONE] = on_step_undone,
	[WIRE_ASK] = session_on_ask,
	[WIRE_ASK_GONE] = session_on_ask_gone,
	[WIRE_GIVEN] = session_on_given,
	[WIRE_GIVEN_OVER] = session_on_given_over,
	[WIRE_LEFT_OPEN] = session_on_left_open,
	[WIRE_TALLIES] = session_on_tallies,
	[WIRE_HELD] = on_held,
	[WIRE_TAKEN_BACK] = session_on_stopped,
	[WIRE_FLOW] = session_on_flow,
	[WIRE_PORT] = session_on_port,
	[WIRE_REWRITE] = session_on_rewrite,
	[WIRE_SECRET] = on_secret,
	[WIRE_EXIT] = on_exit_status,
	[WIRE_PLAN] = on_plan,
	[WIRE_PROGRESS] = on_progress,
	[WIRE_DONE] = on_done,
	[WIRE_NOTE] = on_note,
	[WIRE_TURN_BEGAN] = on_turn,
	[WIRE_AGENT_ASKS] = on_agent_asks,
	[WIRE_AGENT_RESTS] = on_agent_rests,
	[WIRE_NOTICED] = session_on_noticed,
	[WIRE_POINT_DONE] = session_on_point_done,
	[WIRE_EXTERNAL] = on_external,
	[WIRE_SHELL_ENDED] = session_on_shell_ended,
};

void session_on_event(void *data, enum wire_type type, const struct client_event *ev)
{
	if ((size_t)type < ARRAY_LEN(handlers) && handlers[type])
		handlers[type](data, ev);
}
