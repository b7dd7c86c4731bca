/* serve_events - sends the changes of the session as events. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/api/stdio/serve_priv.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/service.h"
#include "core/net/host.h"

/* ---- words ----------------------------------------------------------------------------------- */

static void warn(struct serve *s, const char *kind, const char *words, uint64_t count)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "kind", kind);
	describe_add(o, "message", words);
	if (count)
		cJSON_AddNumberToObject(o, "count", (double)count);
	serve_event(s, "event.warning", o);
}

void serve_warn(struct serve *s, const char *words)
{
	warn(s, "note", words, 0);
}

void serve_fail(struct serve *s, const char *words, bool fatal)
{
	cJSON *o = cJSON_CreateObject();

	describe_add(o, "message", words);
	cJSON_AddBoolToObject(o, "fatal", fatal);
	serve_event(s, "event.error", o);
}

/* Logs a line about a step. */
static void note(int64_t step, const char *component, const char *what, const char *words)
{
	log_about_step(step);
	log_info(component, "%s%s%.400s", what, words ? ": " : "", words ? words : "");
	log_about_step(0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void tell_edit(struct serve *s, const struct row *row)
{
	cJSON *o = cJSON_CreateObject(), *paths = cJSON_AddArrayToObject(o, "paths");
	const char *below = path_below(row->text, engine_model(s->engine)->folder);

	note(0, "file_watcher", "edited from outside", row->text);
	cJSON_AddItemToArray(paths, describe_text(below ? below : row->text));
	if (row->more)
		describe_add(o, "message", row->more);
	serve_event(s, "event.external_modification", o);
}

/* Sends a recovery event. The number of paths is read from the keeper's words. */
static void tell_recovery(struct serve *s, const struct row *row)
{
	cJSON *o = cJSON_CreateObject();
	size_t paths = 0;

	note(0, "undo", "recovery", row->text);
	describe_add(o, "message", row->text);
	if (sscanf(row->text, "%*[^:]: %zu path", &paths) == 1)
		cJSON_AddNumberToObject(o, "paths", (double)paths);
	serve_event(s, "event.recovery", o);
}

static cJSON *spot_json(const char *text)
{
	struct net_target t = {0};
	char addr[NET_ADDR_TEXT] = "";
	cJSON *o = cJSON_CreateObject();

	if (text && net_target_parse(&t, text, NULL) && t.host.is_addr)
		net_addr_format(&t.host.addr, addr);
	cJSON_AddStringToObject(o, "addr", addr);
	cJSON_AddNumberToObject(o, "port", t.port);
	return o;
}

static void tell_rewrite(struct serve *s, const struct row *row)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "pid", row->pid);
	cJSON_AddStringToObject(o, "op", str_eq(row->op, REWRITE_BIND) ? "bind" : "connect");
	cJSON_AddItemToObject(o, "from", spot_json(row->text));
	cJSON_AddItemToObject(o, "to", spot_json(row->more));
	serve_event(s, "event.net_rewrite", o);
}

/* Sends an event for an entry of Seatbelt's log (keeper_service()). */
static void tell_service(struct serve *s, const struct row *row)
{
	bool denied = row->kind == ROW_DENY;
	const char *comm = denied && row->more ? row->more : "";
	cJSON *o = cJSON_CreateObject();

	if (str_starts(comm, SERVICE_ASKED_BY))
		comm += strlen(SERVICE_ASKED_BY);
	cJSON_AddNumberToObject(o, "pid", row->pid);
	cJSON_AddStringToObject(o, "service_name", row->text);
	if (denied) {
		cJSON_AddStringToObject(o, "comm", comm);
		cJSON_AddStringToObject(o, "operation", row->op);
	} else {
		cJSON_AddBoolToObject(o, "allowed", true);
		cJSON_AddStringToObject(o, "reason", "audit");
		cJSON_AddStringToObject(o, "source", "sandbox_log");
	}
	serve_event(s, denied ? "event.xpc_sandbox_violation" : "event.xpc_connect", o);
}

static void tell_row(struct serve *s, const struct row *row)
{
	if (s->audit)
		serve_event(s, "event.audit", describe_row(row));
	if (row->kind == ROW_EXTERNAL)
		tell_edit(s, row);
	else if (row->kind == ROW_NOTE && str_eq(row->op, "recovery"))
		tell_recovery(s, row);
	else if (row->kind == ROW_TOUCH &&
		 (str_eq(row->op, REWRITE_BIND) || str_eq(row->op, REWRITE_CONNECT)))
		tell_rewrite(s, row);
	else if ((row->kind == ROW_TOUCH || row->kind == ROW_DENY) &&
		 str_starts(row->op, SERVICE_OPERATIONS))
		tell_service(s, row);
	else if (row->kind == ROW_NOTE && str_eq(row->op, "safeguard"))
		note(row->step, "safeguard", "stopped", row->text);
	else if (row->kind == ROW_DECISION)
		note(row->step, "approval", row->more ? row->more : row->op, row->text);
}

/* Sends rows as events. Rows may come in floods: those without room are left out, and an event says
 * so. */
static void tell_rows(struct serve *s, const struct model *m)
{
	uint64_t fresh = m->row_seq - s->row;
	size_t kept = (size_t)MIN(fresh, (uint64_t)m->row_count);

	if (!fresh || (!serve_has_room(s) && kept < m->row_count))
		return;
	s->rows_dropped += fresh - kept;
	if (s->rows_dropped && serve_has_room(s)) {
		warn(s, "events_dropped",
		     "events came faster than they were read: the audit log has them all",
		     s->rows_dropped);
		s->rows_dropped = 0;
	}
	for (size_t i = m->row_count - kept; i < m->row_count && serve_has_room(s); i++) {
		tell_row(s, model_row(m, i));
		kept--;
	}
	s->row = m->row_seq - kept;
}

/* ---- questions ------------------------------------------------------------------------------- */

static void add_paths(cJSON *o, const char *name, char *const *list, size_t n)
{
	cJSON *paths = cJSON_AddArrayToObject(o, name);

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(paths, describe_text(list[i]));
}

static void tell_held(struct serve *s, const struct ask *a)
{
	static const char *const kinds[] = {[LOSS_DELETE] = "delete",
					    [LOSS_OVERWRITE] = "overwrite",
					    [LOSS_REPLACE] = "rename",
					    [LOSS_BEYOND] = "beyond"};
	const struct guard_report *h = a->held;
	AUTO_FREE char *id = xasprintf("sg_%" PRIu64, a->id);
	AUTO_FREE char *words =
		h->what == LOSS_BEYOND
			? xasprintf("step %" PRId64 " ('%.200s') would lose %" PRIu64
				    " bytes that undo cannot keep: allow raises its limit and "
				    "keeps them, remember goes on without undo, deny rolls it back",
				    h->step, h->command, h->count)
			: xasprintf(
				  "step %" PRId64 " ('%.200s') would %s more than %" PRIu64
				  " files that were there before it: allow it, or deny and roll it "
				  "back",
				  h->step, h->command, kinds[h->what], h->count);
	cJSON *o = cJSON_CreateObject();

	note(h->step, "safeguard", "triggered", words);
	cJSON_AddStringToObject(o, "safeguard_id", id);
	cJSON_AddNumberToObject(o, "step_id", (double)h->step);
	cJSON_AddStringToObject(o, "kind", kinds[h->what]);
	cJSON_AddNumberToObject(o, "count", (double)h->count);
	if (h->what == LOSS_DELETE)
		cJSON_AddNumberToObject(o, "delete_count", (double)h->count);
	describe_add(o, "command", h->command);
	add_paths(o, "sample_paths", h->was, h->n_was);
	add_paths(o, "held_paths", h->would, h->n_would);
	cJSON_AddNumberToObject(o, "timeout_seconds", h->timeout_s);
	describe_add(o, "message", words);
	serve_event(s, "event.safeguard_triggered", o);
}

static void tell_gone(struct serve *s, uint64_t id)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "id", (double)id);
	serve_event(s, "event.approval_resolved", o);
}

static void tell_asked(struct serve *s, const struct ask *a)
{
	cJSON *connection;

	if (a->held) {
		tell_held(s, a);
		return;
	}
	serve_event(s, "event.approval_requested", describe_ask(a));
	connection = describe_connection(a);
	if (connection)
		serve_event(s, "event.net_request", connection);
}

/* Compares the two lists of questions. Both grow only at their end, with growing numbers. */
static void tell_asks(struct serve *s, const struct model *m)
{
	size_t known = 0, i = 0;

	while (known < s->n_asks || i < m->n_asks) {
		if (i == m->n_asks || (known < s->n_asks && s->asks[known] < m->asks[i].id)) {
			tell_gone(s, s->asks[known++]);
		} else if (known == s->n_asks || m->asks[i].id < s->asks[known]) {
			tell_asked(s, &m->asks[i++]);
		} else {
			known++, i++;
		}
	}
	s->asks = xrealloc(s->asks, MAX(i, (size_t)1) * sizeof(*s->asks));
	s->n_asks = i;
	while (i-- > 0)
		s->asks[i] = m->asks[i].id;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void tell_step(struct serve *s, int64_t id, const char *kind, const char *command,
		      int exit_code, const struct step_row *row, const cJSON *request_id)
{
	struct journal *j = id ? session_journal(engine_session(s->engine)) : NULL;
	cJSON *o = cJSON_CreateObject();
	size_t n = 0;

	cJSON_AddItemToObject(o, "step_id",
			      id ? cJSON_CreateNumber((double)id) : cJSON_CreateNull());
	cJSON_AddStringToObject(o, "kind", kind);
	describe_add(o, "command", command);
	cJSON_AddItemToObject(o, "exit_code",
			      exit_code < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(exit_code));
	cJSON_AddItemToObject(o, "affected_paths", describe_paths(j, id, PATHS_TOLD, &n));
	note(id, "control", id ? "step committed" : "ended without a change", command);
	cJSON_AddNumberToObject(o, "paths", (double)n);
	/* The model may not have marked the row yet. */
	cJSON_AddBoolToObject(o, "incomplete",
			      (row && row->incomplete) || (j && journal_is_incomplete(j, id)));
	cJSON_AddBoolToObject(o, "rolled_back", row && row->undone);
	if (request_id)
		cJSON_AddItemToObject(o, "request_id", cJSON_Duplicate(request_id, true));
	serve_event(s, "event.step_completed", o);
}

static bool was_told(const struct serve *s, int64_t id)
{
	for (size_t i = s->n_steps; i-- > 0;)
		if (s->steps[i] == id)
			return true;
	return false;
}

static void note_told(struct serve *s, int64_t id)
{
	s->steps = xrealloc(s->steps, (s->n_steps + 1) * sizeof(*s->steps));
	s->steps[s->n_steps++] = id;
}

/* Returns the step of this command that a safeguard has rolled back, or NULL. */
static const struct step_row *taken_back(const struct serve *s, const struct request *r)
{
	const struct model *m = engine_model(s->engine);

	for (size_t i = m->n_steps; i-- > 0 && llabs(m->steps[i].id) > s->steps_over;) {
		const struct step_row *row = &m->steps[i];

		if (row->undone && !row->running && !row->earlier && !was_told(s, row->id) &&
		    row->command && str_starts(r->command, row->command))
			return row;
	}
	return NULL;
}

const struct step_row *serve_step_done(struct serve *s, const struct request *r,
				       const struct job_result *result)
{
	int st = result->wait_status;
	const struct step_row *row =
		result->step ? model_step(session_model(engine_session(s->engine)), result->step)
		: WIFSIGNALED(st) ? taken_back(s, r)
				  : NULL;
	int64_t id = result->step ? result->step : row ? row->id : 0;

	if (result->error && !result->step)
		return NULL;
	if (id)
		note_told(s, id);
	if (s->channel && !s->deaf && (id || r->op->fn != op_write))
		tell_step(s, id, r->op->fn == op_write ? "api" : "command", r->command,
			  util_exit_code(st), row, r->answered ? NULL : r->id);
	return result->step ? NULL : row;
}

/* Reports steps in the background. While a command of a client runs, a step may be its own, so this
 * waits. Rows come and go: their numbers, which grow, say which ones were reported. */
static void tell_steps(struct serve *s, const struct model *m)
{
	static const char *const kinds[] = {
		[STEP_COMMAND] = "command", [STEP_AMBIENT] = "ambient", [STEP_API] = "api"};
	size_t queued, i = m->n_steps;
	bool over = true; /* all older steps are reported */

	if (jobs_running(engine_jobs(s->engine), &queued))
		return;
	while (i && llabs(m->steps[i - 1].id) > s->steps_over)
		i--;
	for (; i < m->n_steps && serve_has_room(s); i++) {
		const struct step_row *row = &m->steps[i];

		over = over && !row->running;
		if (over)
			s->steps_over = llabs(row->id);
		if (row->running || row->earlier || was_told(s, row->id))
			continue;
		note_told(s, row->id);
		tell_step(s, row->id, kinds[row->kind], row->command ? row->command : "",
			  row->exit_status, row, NULL);
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Denies the questions if the client sends nothing more and no user can answer, so that no command
 * waits for ever. */
void serve_deny_unheard(struct serve *s)
{
	static const struct answer no = {0};
	const struct model *m = s->engine ? engine_model(s->engine) : NULL;

	if (!m || !s->channel || serve_hears(s) || s->also || engine_has_human(s->engine) ||
	    s->denying)
		return;
	s->denying = true; /* an answer changes the model */
	for (size_t i = 0; i < m->n_asks;) {
		uint64_t id = m->asks[i].id;

		log_warn("approval", "denied: the input has ended, and no client can answer: %s",
			 m->asks[i].path ? m->asks[i].path : "");
		(void)!engine_answer(s->engine, "nobody: the input has ended", id, &no, NULL);
		if (i < m->n_asks && m->asks[i].id == id)
			i++;
	}
	s->denying = false;
}

void serve_tell(struct serve *s)
{
	const struct model *m = s->engine ? engine_model(s->engine) : NULL;

	if (!m)
		return;
	if (s->channel && !s->deaf) {
		tell_rows(s, m);
		tell_asks(s, m);
		tell_steps(s, m);
	}
	if (s->also)
		s->also(s->also_data);
	serve_deny_unheard(s);
}

void serve_forget_told(struct serve *s)
{
	free(take_ptr(&s->asks));
	free(take_ptr(&s->steps));
	s->n_asks = s->n_steps = s->steps_over = 0;
	s->row = s->rows_dropped = 0;
}
