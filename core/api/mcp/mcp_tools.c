/* mcp_tools - MCP's tools/call: each tool is an operation of protocol.json. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <utlist.h>

#include "core/api/mcp/mcp_priv.h"
#include "core/api/request_line.h"
#include "core/api/schema.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"

#define PROGRESS_US 100000

/* ---- calls ----------------------------------------------------------------------------------- */

void mcp_call_free(struct mcp_call *call)
{
	LL_DELETE(call->conn->calls, call);
	call->conn->n_calls--;
	cJSON_Delete(call->id);
	cJSON_Delete(call->arguments);
	cJSON_Delete(call->progress);
	cJSON_Delete(call->notes);
	cJSON_Delete(call->answer);
	free(call);
}

void mcp_note(struct mcp_call *call, const char *words)
{
	if (!call->notes)
		call->notes = cJSON_CreateArray();
	cJSON_AddItemToArray(call->notes, cJSON_CreateString(words)); /* escaped */
}

void mcp_cancel(struct mcp_conn *c, const cJSON *id)
{
	struct mcp_call *call;

	for (call = c->calls; call; call = call->next) {
		if (!call->id || !cJSON_Compare(call->id, id, true))
			continue;
		call->cancelled = true;
		if (call->request && call->request->job)
			(void)!jobs_cancel(engine_jobs(c->server->serve->engine),
					   call->request->job);
		else if (call->request)
			(void)!model_withdraw(call->request);
		return;
	}
}

/* ---- results --------------------------------------------------------------------------------- */

static void add_item(cJSON *result, cJSON *one)
{
	cJSON *list = json_get(result, "content") ? cJSON_GetObjectItem(result, "content")
						  : cJSON_AddArrayToObject(result, "content");

	cJSON_AddItemToArray(list, one);
}

static void add_text(cJSON *result, const char *text)
{
	cJSON *one = cJSON_CreateObject();

	cJSON_AddStringToObject(one, "type", "text");
	describe_add(one, "text", text);
	add_item(result, one);
}

/* Adds a member that describe_add() has quoted as a separate text with `before` in front; leaves
 * out an empty one. */
static void add_quoted(cJSON *result, const char *before, const cJSON *quoted)
{
	AUTO_BUF struct buf text = BUF_INIT;
	cJSON *one;

	if (!quoted || str_eq(quoted->valuestring, "\"\""))
		return;
	buf_fmt(&text, "\"%s%s", before, quoted->valuestring + 1);
	one = cJSON_CreateObject();
	cJSON_AddStringToObject(one, "type", "text");
	cJSON_AddItemToObject(one, "text", cJSON_CreateRaw(text.data));
	add_item(result, one);
}

static void add_command(cJSON *o, const cJSON *value)
{
	AUTO_BUF struct buf end = BUF_INIT;
	const cJSON *note;

	add_quoted(o, "", json_get(value, "stdout"));
	add_quoted(o, "standard error:\\n", json_get(value, "stderr"));
	buf_fmt(&end, "exit code %.0f%s%s%s", cJSON_GetNumberValue(json_get(value, "exit_code")),
		cJSON_IsTrue(json_get(value, "timed_out")) ? ", it took too long" : "",
		cJSON_IsTrue(json_get(value, "cancelled")) ? ", cancelled" : "",
		cJSON_IsTrue(json_get(value, "truncated")) ? "; there was more output than is shown"
							   : "");
	for (note = json_first(json_get(value, "notes")); note; note = note->next)
		buf_fmt(&end, "\n%s", note->valuestring);
	add_text(o, end.data);
}

/* Adds the text for the model, as most clients give it nothing else: output, files and diffs
 * unchanged, other results as JSON. */
static void add_words(cJSON *o, const struct request *r, const cJSON *value)
{
	const char *encoding = cJSON_GetStringValue(json_get(value, "encoding"));
	AUTO_FREE char *text = NULL;

	if (r->op->fn == op_execute) {
		add_command(o, value);
	} else if (r->op->fn == op_read && str_eq(encoding, "utf-8")) {
		add_quoted(o, "", json_get(value, "content"));
		if (cJSON_IsTrue(json_get(value, "truncated")))
			add_text(o, "this is a part of the file: read on with offset");
	} else if (r->op->fn == op_diff) {
		add_quoted(o, "", json_get(value, "diff"));
	} else {
		text = json_print(value);
		request_line_strict(text);
		add_text(o, text);
	}
	if (!json_get(o, "content"))
		add_text(o, r->op->fn == op_read ? "the file is empty" : "there is no difference");
}

static cJSON *structured(const struct request *r, cJSON *value, bool failed)
{
	cJSON *o = cJSON_CreateObject();

	add_words(o, r, value);
	cJSON_AddItemToObject(o, "structuredContent", value);
	cJSON_AddBoolToObject(o, "isError", failed);
	return o;
}

/* Returns an error with what was refused during the call and the paths that were in the way, so
 * that the model can act on it. */
static cJSON *error_result(const struct mcp_call *call, const struct fault *f)
{
	cJSON *o = cJSON_CreateObject();
	const cJSON *note;
	AUTO_FREE char *words = xasprintf("%s: %s", fault_name(f->code), f->message);

	add_text(o, words);
	for (note = json_first(call->notes); note; note = note->next)
		add_text(o, note->valuestring);
	if (f->data) {
		char *text = json_print(f->data);

		request_line_strict(text);
		add_text(o, text);
		free(text);
	}
	cJSON_AddBoolToObject(o, "isError", true);
	return o;
}

/* Adds one output stream of a command, which may have any bytes. */
static void add_stream(cJSON *o, const char *name, const struct buf *text)
{
	AUTO_BUF struct buf clean = BUF_INIT;

	for (size_t i = 0; i < text->len;) {
		int32_t cp;
		size_t n = text_decode(text->data + i, text->len - i, &cp);

		if (cp < 0 || cp == 0)
			buf_str(&clean, "\xef\xbf\xbd");
		else
			buf_add(&clean, text->data + i, n);
		i += n;
	}
	describe_add(o, name, clean.data);
}

/* Adds a note if a safeguard stopped the command: who refused it, and that its changes are
 * undone. */
static void note_rollback(struct mcp_call *call, cJSON *value)
{
	cJSON *message = cJSON_DetachItemFromObjectCaseSensitive(value, "message");
	AUTO_BUF struct buf words = BUF_INIT;
	const char *why = message ? message->valuestring : "";

	if (message) {
		buf_fmt(&words,
			"refused: %s: a safeguard stopped the command, and every file that it had "
			"changed is back as it was. Do not try it again in another way: ask the "
			"user first. (%.*s)",
			strstr(why, ", denied") ? "the user was asked and said no"
						: "the user has to allow it, and did not",
			strstr(why, ": cordon redo") ? (int)(strstr(why, ": cordon redo") - why)
						     : (int)strlen(why),
			why);
		mcp_note(call, words.data);
	}
	cJSON_Delete(message);
}

/* Adds notes about what the user did to the model's work since the last command. */
static void note_notices(struct mcp_call *call, const struct serve *s)
{
	AUTO_FREE char *lines = s->engine && !call->cancelled
					? session_take_notices(engine_session(s->engine))
					: NULL;
	char *save = NULL;

	for (char *line = lines ? strtok_r(lines, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		mcp_note(call, line);
}

static cJSON *value_of(struct mcp_call *call, struct request *r)
{
	cJSON *value = r->result ? take_ptr(&r->result) : cJSON_CreateObject();

	if (r->op->fn == op_execute) {
		note_rollback(call, value);
		note_notices(call, r->serve);
		add_stream(value, "stdout", &r->text[0]);
		add_stream(value, "stderr", &r->text[1]);
		cJSON_AddBoolToObject(value, "truncated", r->cut);
		if (call->notes)
			cJSON_AddItemToObject(value, "notes", take_ptr(&call->notes));
	}
	return value;
}

/* Answers with the call's id. */
static void mcp_call_answer(struct mcp_call *call)
{
	struct mcp_conn *c = call->conn;

	if (call->cancelled)
		cJSON_Delete(take_ptr(&call->answer));
	else
		mcp_result(c, call->batch, call->id, call->modern, false, take_ptr(&call->answer));
	mcp_call_free(call);
}

static void on_answered(struct request *r, int outcome)
{
	struct mcp_call *call = r->data;

	if (!call) /* its client has disconnected */
		return;
	call->request = NULL;
	if (outcome < 0 && r->fault.code == FAULT_SESSION_ENDED && r->serve->failed)
		fault_say(&r->fault, FAULT_SESSION_ENDED, "%s", r->serve->failed);
	if (outcome < 0) {
		call->answer = error_result(call, &r->fault);
	} else {
		bool back = cJSON_IsTrue(json_get(r->result, "rolled_back"));

		call->answer = structured(r, value_of(call, r), back);
	}
	if (call->id)
		mcp_call_answer(call);
}

static void on_progress(struct request *r, const char *bytes, size_t len)
{
	struct mcp_call *call = r->data;
	int64_t now = clock_mono_us();
	const char *end, *from;
	cJSON *o;

	if (!call)
		return;
	call->told += (double)len;
	if (!call->progress || !call->id || call->cancelled || now - call->told_us < PROGRESS_US)
		return;
	call->told_us = now;
	end = bytes + len;
	while (end > bytes && end[-1] == '\n')
		end--;
	from = end;
	while (from > bytes && from[-1] != '\n' && end - from < 200)
		from--;
	o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "progressToken", cJSON_Duplicate(call->progress, true));
	cJSON_AddNumberToObject(o, "progress", call->told);
	if (describe_is_utf8(from, (size_t)(end - from))) {
		AUTO_BUF struct buf line = BUF_INIT;

		text_escape(&line, from, (size_t)(end - from));
		describe_add(o, "message", line.data);
	}
	mcp_send(call->conn, NULL, mcp_message("notifications/progress", o));
}

/* ---- tools/call ------------------------------------------------------------------------------ */

static const cJSON *find_tool(const char *name)
{
	const cJSON *tool;

	for (tool = schema_find("mcp.json", "tools")->child; tool; tool = tool->next)
		if (str_eq(json_get(tool, "name")->valuestring, name))
			return tool;
	return NULL;
}

static struct mcp_call *call_new(const struct rpc *r, const cJSON *tool, const cJSON *arguments)
{
	struct mcp_call *call = xcalloc(1, sizeof(*call));
	const cJSON *caps = json_get(r->meta, "io.modelcontextprotocol/clientCapabilities");
	const cJSON *token = json_get(r->meta, "progressToken");

	call->conn = r->conn;
	call->id = cJSON_Duplicate(r->id, true);
	call->modern = r->modern;
	call->elicits =
		r->modern ? cJSON_IsObject(json_get(caps, "elicitation")) : r->conn->elicits;
	call->batch = r->batch;
	call->tool = tool;
	call->arguments = arguments ? cJSON_Duplicate(arguments, true) : cJSON_CreateObject();
	if (request_line_is_id(token))
		call->progress = cJSON_Duplicate(token, true);
	LL_APPEND(r->conn->calls, call);
	r->conn->n_calls++;
	return call;
}

static void refuse(struct mcp_call *call, const struct fault *f)
{
	call->answer = error_result(call, f);
	mcp_call_answer(call);
}

static void begin(struct mcp_call *call)
{
	struct serve *s = call->conn->server->serve;
	const char *name = json_get(call->tool, "name")->valuestring;
	struct fault f = {0};

	if (schema_check("mcp.json", json_get(call->tool, "inputSchema"), call->arguments, &f) <
		    0 ||
	    serve_need_session(s, &f) < 0) {
		refuse(call, &f);
		fault_done(&f);
		return;
	}
	serve_begin(
		s, &(struct serve_asked){
			   .operation = schema_find("mcp.json", "operations/%s", name)->valuestring,
			   .id = call->id,
			   .payload = call->arguments,
			   .answered = on_answered,
			   .progress = on_progress,
			   .data = call,
			   .ret = &call->request,
		   });
}

/* Lists the existing tools, so that a model that guessed a name calls the right one next. */
static void say_no_tool(const struct rpc *r)
{
	AUTO_BUF struct buf words = BUF_INIT;
	const cJSON *tool;

	buf_str(&words, "there is no such tool; there are");
	for (tool = schema_find("mcp.json", "tools")->child; tool; tool = tool->next)
		buf_fmt(&words, " %s", cJSON_GetStringValue(json_get(tool, "name")));
	mcp_error(r->conn, r->batch, r->id, RPC_PARAMS, words.data, NULL);
}

void mcp_call_tool(const struct rpc *r)
{
	const cJSON *tool = find_tool(cJSON_GetStringValue(json_get(r->params, "name")));
	const cJSON *arguments = json_get(r->params, "arguments");
	struct mcp_call *call;

	if (!tool) {
		say_no_tool(r);
		return;
	}
	if (arguments && !cJSON_IsObject(arguments)) {
		mcp_error(r->conn, r->batch, r->id, RPC_PARAMS, "arguments: must be an object",
			  NULL);
		return;
	}
	if (json_get(r->params, "requestState") || json_get(r->params, "inputResponses")) {
		call = mcp_resume(r);
		if (!call)
			mcp_error(r->conn, r->batch, r->id, RPC_PARAMS,
				  "requestState: none that is open for this call", NULL);
		else if (call->answer)
			mcp_call_answer(call);
		return;
	}
	begin(call_new(r, tool, arguments));
}
