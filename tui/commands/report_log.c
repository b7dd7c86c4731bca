/* report_log - the facts of one session, read from the audit log. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "core/audit/audit.h"
#include "core/audit/reader.h"
#include "core/journal/journal.h"
#include "core/keeper/service.h"
#include "tui/commands/report.h"

/* A step belongs to the last turn that begins before the first line about the step: lines are in
 * the order of events, whatever their clocks. */
struct reading {
	struct report *r;
	const char *session;
	struct known_step { /* in the order of their first lines */
		int64_t id;
		size_t turn, fact;
	} * steps;
	size_t n_steps, cap_steps;
};

/* ---- the report ------------------------------------------------------------------------------ */

static void fact_done(struct fact *f)
{
	free(f->op);
	free(f->object);
	free(f->program);
	free(f->answer);
	free(f->by);
	free(f->reason);
}

static void turn_done(struct turn_facts *t)
{
	for (size_t i = 0; i < t->n; i++)
		fact_done(&t->list[i]);
	for (size_t i = 0; i < t->n_files; i++) {
		free(t->files[i].old_path);
		free(t->files[i].path);
	}
	free(t->list);
	free(t->files);
	free(t->files_why);
	free(t->prompt);
}

void report_done(struct report *r)
{
	for (size_t i = 0; i < r->n_turns; i++)
		turn_done(&r->turns[i]);
	for (size_t i = 0; i < r->n_hosts; i++) {
		free(r->hosts[i].target);
		free(r->hosts[i].excess);
	}
	free(r->turns);
	free(r->hosts);
	free(r->session);
	free(r->folder);
	free(r->command);
	free(r->backend);
	free(r->counted);
}

static void add_turn(struct report *r, int64_t us)
{
	r->turns = xrealloc(r->turns, (r->n_turns + 1) * sizeof(*r->turns));
	r->turns[r->n_turns++] = (struct turn_facts){.us = us};
}

/* Adds a fact to the newest turn. Returns NULL if the turn has FACTS_MAX. */
static struct fact *add_fact(struct report *r, enum fact_kind kind)
{
	struct turn_facts *t = &r->turns[r->n_turns - 1];

	if (t->n == FACTS_MAX) {
		t->cut++;
		return NULL;
	}
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		t->list = xrealloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[t->n] = (struct fact){.kind = kind, .status = -1, .us = -1, .count = 1};
	return &t->list[t->n++];
}

static struct host_fact *get_host(struct report *r, const char *target, bool came)
{
	for (size_t i = 0; i < r->n_hosts; i++)
		if (r->hosts[i].came == came && str_eq(r->hosts[i].target, target))
			return &r->hosts[i];
	if (r->n_hosts == HOSTS_MAX) {
		r->hosts_cut++;
		return NULL;
	}
	r->hosts = xrealloc(r->hosts, (r->n_hosts + 1) * sizeof(*r->hosts));
	r->hosts[r->n_hosts] = (struct host_fact){.target = xstrdup(target), .came = came};
	return &r->hosts[r->n_hosts++];
}

/* ---- lines ----------------------------------------------------------------------------------- */

static char *copy(const struct audit_record *l, const char *name)
{
	const char *s = audit_record_get(l, name, NULL);

	return s ? xstrdup(s) : NULL;
}

static int64_t number(const struct audit_record *l, const char *name)
{
	return strtoll(audit_record_text(l, name), NULL, 10);
}

/* Parses "2026-11-21T22:04:45.123456Z". Returns 0 if it is no such time. */
static int64_t time_of(const struct audit_record *l)
{
	struct tm tm = {0};
	int us = 0;

	if (sscanf(audit_record_text(l, "time"), "%d-%d-%dT%d:%d:%d.%dZ", &tm.tm_year, &tm.tm_mon,
		   &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &us) != 7)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return (int64_t)timegm(&tm) * 1000000 + us;
}

static struct known_step *find_step(struct reading *in, int64_t id)
{
	for (size_t i = in->n_steps; i-- > 0;)
		if (in->steps[i].id == id)
			return &in->steps[i];
	return NULL;
}

/* Returns the fact of this step's command, in the newest turn if it is a new step. */
static struct fact *get_step(struct reading *in, int64_t id)
{
	struct report *r = in->r;
	struct known_step *s = find_step(in, id);
	struct fact *f;

	if (s)
		return &r->turns[s->turn].list[s->fact];
	f = add_fact(r, FACT_COMMAND);
	if (!f)
		return NULL;
	f->step = id;
	if (in->n_steps == in->cap_steps) {
		in->cap_steps = in->cap_steps ? 2 * in->cap_steps : 64;
		in->steps = xrealloc(in->steps, in->cap_steps * sizeof(*in->steps));
	}
	in->steps[in->n_steps++] = (struct known_step){
		.id = id, .turn = r->n_turns - 1, .fact = r->turns[r->n_turns - 1].n - 1};
	return f;
}

static void end_command(struct fact *f, const struct audit_record *l)
{
	if (!f)
		return;
	f->object = copy(l, "command");
	f->reason = copy(l, "detail");
	f->status = (int)number(l, "status");
	f->ended = true;
	if (step_is_yours(f->object))
		f->kind = FACT_YOURS;
	f->tests = f->object ? runs_tests(f->object, strlen(f->object)) : RUNS_NO_TESTS;
}

static void on_step(struct reading *in, const struct audit_record *l)
{
	struct fact *f = get_step(in, number(l, "step"));

	if (f && !f->ended)
		end_command(f, l);
}

/* Returns whether it is cordon's hook, run by an agent. */
static bool is_hook(const char *command)
{
	return str_starts(command, "cordon hook") || strstr(command, "/cordon hook");
}

/* Returns an equal command with the same result in the newest turn. NULL: none, or it runs
 * tests. */
static struct fact *find_ran(const struct report *r, const struct audit_record *l)
{
	const struct turn_facts *t = &r->turns[r->n_turns - 1];

	for (size_t i = t->n; i-- > 0;) {
		struct fact *f = &t->list[i];

		if (f->kind == FACT_COMMAND && !f->step && f->tests == RUNS_NO_TESTS &&
		    f->status == (int)number(l, "status") && f->object &&
		    str_eq(f->object, audit_record_text(l, "command")))
			return f;
	}
	return NULL;
}

static void on_ran(struct reading *in, const struct audit_record *l)
{
	struct fact *same;

	if (is_hook(audit_record_text(l, "command")))
		return;
	same = find_ran(in->r, l);
	if (same)
		same->count++;
	else
		end_command(add_fact(in->r, FACT_COMMAND), l);
}

static void on_turn(struct reading *in, const struct audit_record *l)
{
	struct turn_facts *t;

	if (!str_eq(audit_record_text(l, "op"), "named"))
		add_turn(in->r, time_of(l));
	t = &in->r->turns[in->r->n_turns - 1];
	if (*audit_record_text(l, "detail")) {
		free(t->prompt);
		t->prompt = copy(l, "detail");
	}
}

static void on_ask(struct reading *in, const struct audit_record *l)
{
	struct fact *f = add_fact(in->r, FACT_QUESTION);

	if (!f)
		return;
	f->pid = (int)number(l, "pid");
	f->op = copy(l, "op");
	f->object = copy(l, *audit_record_text(l, "path") ? "path" : "command");
	f->program = copy(l, "program");
	f->reason = copy(l, "detail");
}

static bool is_asked(const struct fact *f, const struct audit_record *l)
{
	return f->kind == FACT_QUESTION && !f->answer && f->pid == (int)number(l, "pid") &&
	       str_eq(f->object ? f->object : "",
		      audit_record_text(l, *audit_record_text(l, "path") ? "path" : "command"));
}

/* Returns the oldest question that this line may answer, in the newest turn or an earlier one. */
static struct fact *find_question(const struct reading *in, const struct audit_record *l)
{
	for (size_t t = in->r->n_turns; t-- > 0;)
		for (size_t i = 0; i < in->r->turns[t].n; i++)
			if (is_asked(&in->r->turns[t].list[i], l))
				return &in->r->turns[t].list[i];
	return NULL;
}

/* Handles a decision. A revoked rule and a published port are answers without a question. */
static void on_decision(struct reading *in, const struct audit_record *l)
{
	struct fact *f = find_question(in, l);

	if (!f && (f = add_fact(in->r, FACT_QUESTION))) {
		f->op = copy(l, "op");
		f->object = copy(l, *audit_record_text(l, "path") ? "path" : "command");
	}
	if (!f)
		return;
	f->answer = xstrdup(audit_record_text(l, "detail"));
	f->by = copy(l, "by");
	f->allowed = !*audit_record_text(l, "errno");
	f->us = audit_record_get(l, "latency_us", NULL) ? number(l, "latency_us") : -1;
}

/* Adds a fact, or counts it if the turn has an equal one. */
static void add_counted(struct reading *in, enum fact_kind kind, const struct audit_record *l)
{
	struct turn_facts *t = &in->r->turns[in->r->n_turns - 1];
	struct fact *f;

	for (size_t i = t->n; i-- > 0;) {
		f = &t->list[i];
		if (f->kind != kind || !str_eq(f->op ? f->op : "", audit_record_text(l, "op")) ||
		    !str_eq(f->object ? f->object : "", audit_record_text(l, "path")))
			continue;
		f->count++;
		return;
	}
	f = add_fact(in->r, kind);
	if (!f)
		return;
	f->op = copy(l, "op");
	f->object = copy(l, "path");
	f->reason = copy(l, "detail");
	f->by = copy(l, "by");
	f->secret = str_eq(audit_record_text(l, "op"), LOOKED_FOR);
}

static void on_rollback(struct reading *in, const struct audit_record *l)
{
	struct fact *f = *audit_record_text(l, "errno") ? NULL : add_fact(in->r, FACT_ROLLBACK);

	if (f)
		f->reason = copy(l, "detail");
}

static void on_touch(struct reading *in, const struct audit_record *l)
{
	const bool came = str_eq(audit_record_text(l, "op"), "accept");
	struct host_fact *h = NULL;

	if (came || str_eq(audit_record_text(l, "op"), "connect"))
		h = get_host(in->r, audit_record_text(l, "path"), came);
	if (h)
		h->count++;
}

static void on_traffic(struct reading *in, const struct audit_record *l)
{
	struct host_fact *h = get_host(in->r, audit_record_text(l, "path"), false);
	uint64_t sent, received;

	if (!h || sscanf(audit_record_text(l, "detail"), "sent %" SCNu64 ", received %" SCNu64,
			 &sent, &received) != 2)
		return;
	h->sent += sent;
	h->received += received;
}

static void on_excess(struct reading *in, const struct audit_record *l)
{
	struct host_fact *h = get_host(in->r, audit_record_text(l, "path"), false);

	if (!h)
		return;
	free(h->excess);
	h->excess = copy(l, "detail");
}

static void on_end(struct report *r, const struct audit_record *l)
{
	r->ended_us = time_of(l);
	r->status = (int)number(l, "status");
}

static void read_line(struct reading *in, const struct audit_record *l)
{
	const char *event = audit_record_text(l, "event");

	if (str_eq(event, "step"))
		on_step(in, l);
	else if (number(l, "step") && (str_eq(event, "touch") || str_eq(event, "exec")))
		(void)get_step(in, number(l, "step"));
	if (str_eq(event, "touch"))
		on_touch(in, l);
	else if (str_eq(event, "ran"))
		on_ran(in, l);
	else if (str_eq(event, "turn"))
		on_turn(in, l);
	else if (str_eq(event, "ask") || str_eq(event, "safeguard"))
		on_ask(in, l);
	else if (str_eq(event, "decision"))
		on_decision(in, l);
	else if (str_eq(event, "deny"))
		add_counted(in, FACT_REFUSAL, l);
	else if (str_eq(event, "external-edit"))
		add_counted(in, FACT_EDIT, l);
	else if (str_eq(event, "undo") || str_eq(event, "redo"))
		on_rollback(in, l);
	else if (str_eq(event, "traffic"))
		on_traffic(in, l);
	else if (str_eq(event, "excess"))
		on_excess(in, l);
	else if (str_eq(event, "session-end"))
		on_end(in->r, l);
	else if (str_eq(event, "counted")) {
		free(in->r->counted);
		in->r->counted = copy(l, "detail");
	}
}

/* ---- session --------------------------------------------------------------------------------- */

struct choosing {
	const char *name;
	struct report *r;
};

/* Returns whether the name matches: "20261124-090000-1a2b", or "1a2b". */
static bool is_called(const char *session, const char *name)
{
	size_t len = strlen(session), n = strlen(name);

	return n && n <= len && str_eq(session + len - n, name) &&
	       (n == len || session[len - n - 1] == '-');
}

/* Selects the newest session of the name. An undo from outside is one of the backend "none", and
 * counts by its name only. */
static void choose(void *data, const struct audit_record *l)
{
	const struct choosing *c = data;
	struct report *r = c->r;

	if (!str_eq(audit_record_text(l, "event"), "session-start") ||
	    (c->name ? !is_called(audit_record_text(l, "session"), c->name)
		     : str_eq(audit_record_text(l, "op"), "none")))
		return;
	report_done(r);
	*r = (struct report){.session = copy(l, "session"),
			     .folder = copy(l, "path"),
			     .command = copy(l, "command"),
			     .backend = copy(l, "op"),
			     .began_us = time_of(l)};
	add_turn(r, r->began_us);
}

static void on_line(void *data, const struct audit_record *l)
{
	struct reading *in = data;

	if (str_eq(audit_record_text(l, "session"), in->r->session))
		read_line(in, l);
}

/* Drops steps without a line of their end: they still run, or changed nothing. */
static void drop_unended(struct turn_facts *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].kind == FACT_COMMAND && !t->list[i].ended)
			fact_done(&t->list[i]);
		else
			t->list[n++] = t->list[i];
	}
	t->n = n;
}

int report_read(struct report *r, const char *audit_path, const char *name, struct err *err)
{
	struct reading in = {.r = r};
	int e = audit_read(audit_path, choose, &(struct choosing){name, r}, err);

	if (e == 0 && !r->session)
		return name ? err_say(err, -ENOENT, "'%s': no session of this folder is called so",
				      name)
			    : err_say(err, -ENOENT, "no session has run in this folder");
	if (e == 0)
		e = audit_read(audit_path, on_line, &in, err);
	for (size_t i = 0; i < r->n_turns; i++)
		drop_unended(&r->turns[i]);
	free(in.steps);
	return e;
}
