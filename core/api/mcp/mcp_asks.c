/* mcp_asks - asks the user through the MCP client, or refuses and says why. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <sha256.h>
#include <string.h>
#include <utlist.h>

#include "core/api/mcp/mcp_priv.h"
#include "core/api/schema.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/session/answers/answers.h"

#define STATE_S 3600 /* seconds for which a state that the client returns is valid */
#define MAC_HEX 64

/* ---- questions ------------------------------------------------------------------------------- */

/* Returns the question; every part of it that the agent chose is escaped. */
static char *question(const struct ask *a)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (a->held) {
		buf_fmt(&b, "A command was stopped by %s: ", guard_setting(a->held->what));
		text_escape(&b, a->held->command, strlen(a->held->command));
		buf_fmt(&b,
			". It has done that %" PRIu64
			" times to files that were there before. Let it go on? Else it is ended, "
			"and its changes are rolled back.",
			a->held->count);
		return buf_take(&b);
	}
	buf_fmt(&b, "May it %s ", answers_op(a->op));
	text_escape(&b, a->path, strlen(a->path));
	if (a->reason && *a->reason) {
		buf_str(&b, " (");
		text_escape(&b, a->reason, strlen(a->reason));
		buf_ch(&b, ')');
	}
	buf_str(&b, "? Program: ");
	text_escape(&b, a->command ? a->command : "", strlen(a->command ? a->command : ""));
	return buf_take(&b);
}

static cJSON *elicitation(const struct ask *a)
{
	AUTO_FREE char *words = question(a);
	cJSON *o = cJSON_CreateObject();

	describe_add(o, "message", words);
	cJSON_AddItemToObject(o, "requestedSchema",
			      cJSON_Duplicate(schema_find("mcp.json", "elicitation"), true));
	return o;
}

/* ---- state kept by a client ------------------------------------------------------------------ */

static void mac(const struct mcp_server *m, const char *text, char out[MAC_HEX + 1])
{
	AUTO_BUF struct buf b = BUF_INIT;
	char inner[SHA256_DIGEST_STRING_LENGTH];

	buf_add(&b, m->key, sizeof(m->key));
	buf_str(&b, text);
	SHA256Data((const uint8_t *)b.data, b.len, inner);
	buf_clear(&b);
	buf_add(&b, m->key, sizeof(m->key));
	buf_str(&b, inner);
	SHA256Data((const uint8_t *)b.data, b.len, out);
}

/* Returns a state for this call only: "v1.NUMBER.UNTIL.MAC". The MAC covers the number, the time,
 * the tool and its arguments. */
static char *state_of(const struct mcp_server *m, const struct mcp_call *call, int64_t until)
{
	char *arguments = json_print(call->arguments);
	AUTO_FREE char *text =
		xasprintf("v1.%" PRIu64 ".%" PRId64 "|tools/call|%s|%s", call->by, until,
			  json_get(call->tool, "name")->valuestring, arguments);
	char digest[MAC_HEX + 1];

	free(arguments);
	mac(m, text, digest);
	return xasprintf("v1.%" PRIu64 ".%" PRId64 ".%s", call->by, until, digest);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Asks in the result of this call's request. The call stays, parked. */
static void ask_by_result(struct mcp_call *call, const struct ask *a)
{
	struct mcp_server *m = call->conn->server;
	AUTO_FREE char *state = NULL;
	cJSON *result = cJSON_CreateObject(), *request = NULL, *params = NULL;

	call->by = ++m->serial;
	state = state_of(m, call, clock_wall_us() / 1000000 + STATE_S);
	cJSON_AddStringToObject(result, "resultType", "input_required");
	request =
		cJSON_AddObjectToObject(cJSON_AddObjectToObject(result, "inputRequests"), "allow");
	cJSON_AddStringToObject(request, "method", "elicitation/create");
	params = elicitation(a);
	cJSON_AddStringToObject(params, "mode", "form");
	cJSON_AddItemToObject(request, "params", params);
	cJSON_AddStringToObject(result, "requestState", state);
	mcp_result(call->conn, NULL, call->id, true, false, result);
	cJSON_Delete(take_ptr(&call->id));
}

static void ask_by_request(struct mcp_call *call, const struct ask *a)
{
	AUTO_FREE char *id = NULL;
	cJSON *message = mcp_message("elicitation/create", elicitation(a));

	call->by = ++call->conn->server->serial;
	id = xasprintf("cordon-%" PRIu64, call->by);
	cJSON_AddStringToObject(message, "id", id);
	mcp_send(call->conn, NULL, message);
}

static size_t parked(const struct mcp_conn *c)
{
	const struct mcp_call *call;
	size_t n = 0;

	for (call = c->calls; call; call = call->next)
		n += !call->id;
	return n;
}

static void ask_client(struct mcp_call *call, const struct ask *a)
{
	call->ask = a->id;
	if (call->modern)
		ask_by_result(call, a);
	else
		ask_by_request(call, a);
}

/* ---- the call of a question ------------------------------------------------------------------ */

static bool is_about(const struct mcp_call *call, const struct ask *a)
{
	const char *path = cJSON_GetStringValue(json_get(call->arguments, "path"));

	return path && a->path && str_ends(a->path, path_base(path));
}

/* Returns whether the question is about the undo, whose number is only known while the user is
 * asked. */
static bool is_of_undo(struct request *r, const struct ask *a)
{
	if (!a->own || !r->asks || (r->ask && r->ask != a->id))
		return false;
	r->ask = a->id;
	return true;
}

/* Returns the call of a question: that of a file by its path, else the running command. */
static struct mcp_call *call_of(struct mcp_server *m, const struct ask *a)
{
	struct mcp_call *command = NULL, *call;
	struct mcp_conn *c;
	size_t queued;
	uint32_t runs = jobs_running(engine_jobs(m->serve->engine), &queued);

	for (c = m->conns; c; c = c->next) {
		for (call = c->calls; call; call = call->next) {
			if (call->request && is_of_undo(call->request, a))
				return call;
			if (a->own || !call->request || !call->request->job || call->cancelled)
				continue;
			if (is_about(call, a))
				return call;
			if (call->request->job == runs)
				command = call;
		}
	}
	return command;
}

static void refuse(struct mcp_server *m, struct mcp_call *call, const struct ask *a)
{
	static const struct answer no = {0};
	AUTO_BUF struct buf words = BUF_INIT;

	buf_fmt(&words, "refused: %s ", answers_op(a->op));
	text_escape(&words, a->path, strlen(a->path));
	if (a->reason && *a->reason) {
		buf_str(&words, ": ");
		text_escape(&words, a->reason, strlen(a->reason));
	}
	buf_str(&words,
		": the user has to allow it, and cannot be asked here: do without it, or "
		"ask the user to allow it in cordon (cordon attach, or a rule) and try again");
	if (call)
		mcp_note(call, words.data);
	(void)!engine_answer(m->serve->engine, "nobody: the MCP client cannot ask", a->id, &no,
			     NULL);
}

/* Puts a new question to its client, leaves it to another, or refuses it. */
static void place(struct mcp_server *m, const struct ask *a)
{
	struct mcp_call *call = call_of(m, a);
	bool other = serve_hears(m->serve) || engine_has_human(m->serve->engine);
	bool client = call && call->elicits && !call->conn->input_over &&
		      !(call->modern && call->batch) && parked(call->conn) < PARKED_MAX;

	/* The client gets one question at a time; a parked call asks at its client's next call. */
	if (client && !call->ask && call->id)
		ask_client(call, a);
	else if (!other && !client)
		refuse(m, call, a);
}

static bool is_placed(const struct mcp_server *m, uint64_t ask)
{
	const struct mcp_conn *c;
	const struct mcp_call *call;

	for (c = m->conns; c; c = c->next)
		for (call = c->calls; call; call = call->next)
			if (call->ask == ask)
				return true;
	return false;
}

/* Drops the questions that another has answered: their clients need not answer them. */
static void forget_answered(struct mcp_server *m, const struct model *model)
{
	const struct mcp_conn *c;
	struct mcp_call *call;

	for (c = m->conns; c; c = c->next)
		for (call = c->calls; call; call = call->next)
			if (call->ask && !model_ask(model, call->ask))
				call->ask = 0;
}

void mcp_changed(void *server)
{
	struct mcp_server *m = server;
	const struct model *model = m->serve->engine ? engine_model(m->serve->engine) : NULL;

	if (!model || m->placing)
		return;
	m->placing = true; /* an answer changes the model */
	forget_answered(m, model);
	for (size_t i = 0; i < model->n_asks;) {
		uint64_t id = model->asks[i].id;

		if (!is_placed(m, id))
			place(m, &model->asks[i]);
		if (i < model->n_asks && model->asks[i].id == id)
			i++;
	}
	m->placing = false;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Gives the client's answer to the session. Anything but a clear yes denies. */
static void give(struct mcp_server *m, struct mcp_call *call, const cJSON *answer)
{
	const char *action = cJSON_GetStringValue(json_get(answer, "action"));
	const char *decision =
		cJSON_GetStringValue(json_get(json_get(answer, "content"), "decision"));
	struct answer a = {
		.allow = str_eq(action, "accept") && decision && str_starts(decision, "allow"),
		.scope = str_eq(decision, "allow for this session") ? SCOPE_SESSION : SCOPE_ONCE};
	uint64_t ask = call->ask;

	call->ask = 0;
	if (!a.allow)
		a.scope = SCOPE_ONCE;
	if (!a.allow)
		mcp_note(call, "refused: the user was asked and said no");
	if (engine_answer(m->serve->engine, "MCP client: its user", ask, &a, NULL) != -EPERM)
		return;
	a.scope = SCOPE_ONCE; /* a longer scope was refused */
	(void)!engine_answer(m->serve->engine, "MCP client: its user", ask, &a, NULL);
}

void mcp_give_up(struct mcp_conn *c)
{
	struct mcp_call *call = c->calls;

	while (call) {
		if (call->ask) {
			give(c->server, call, NULL);
			call = c->calls; /* the call may have ended */
		} else {
			call = call->next;
		}
	}
}

void mcp_answered(struct mcp_conn *c, const cJSON *message)
{
	const char *id = cJSON_GetStringValue(json_get(message, "id"));
	struct mcp_call *call;
	uint64_t by = 0;

	if (!id || sscanf(id, "cordon-%" SCNu64, &by) != 1)
		return;
	for (call = c->calls; call; call = call->next) {
		if (call->by != by || !call->ask || call->modern)
			continue;
		give(c->server, call, json_get(message, "result"));
		return;
	}
}

struct mcp_call *mcp_resume(const struct rpc *r)
{
	const char *state = cJSON_GetStringValue(json_get(r->params, "requestState"));
	const cJSON *arguments = json_get(r->params, "arguments");
	const char *name = cJSON_GetStringValue(json_get(r->params, "name"));
	struct mcp_server *m = r->conn->server;
	struct mcp_call *call;
	uint64_t by = 0;
	int64_t until = 0;

	if (!r->modern || !state ||
	    sscanf(state, "v1.%" SCNu64 ".%" SCNd64 ".", &by, &until) != 2 ||
	    until < clock_wall_us() / 1000000)
		return NULL;
	for (call = r->conn->calls; call; call = call->next) {
		AUTO_FREE char *expected =
			call->by == by && !call->id ? state_of(m, call, until) : NULL;

		if (!expected || !str_eq(expected, state) ||
		    !str_eq(json_get(call->tool, "name")->valuestring, name) ||
		    !(arguments ? cJSON_Compare(arguments, call->arguments, true)
				: !cJSON_GetArraySize(call->arguments)))
			continue;
		call->id = cJSON_Duplicate(r->id, true);
		call->by = 0; /* a state is valid once */
		call->cancelled = false;
		if (call->ask)
			give(m, call, json_get(json_get(r->params, "inputResponses"), "allow"));
		mcp_changed(m); /* asks the call's next question */
		return call;
	}
	return NULL;
}
