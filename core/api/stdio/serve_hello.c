/* serve_hello - the first line to a client: versions, operations, events. */
/* SPDX-License-Identifier: MIT */
#include "core/api/stdio/serve_priv.h"

#include <unistd.h>

#include "core/api/socket/api.h"
#include "core/api/schema.h"

static cJSON *capabilities(void)
{
	cJSON *o = cJSON_CreateObject(), *ops = cJSON_AddArrayToObject(o, "operations");
	cJSON *events = cJSON_AddArrayToObject(o, "events");
	const cJSON *e;

	for (const struct operation *op = operations; op->name; op++)
		cJSON_AddItemToArray(ops, cJSON_CreateString(op->name));
	for (e = json_first(schema_find("protocol.json", "$defs/events")); e; e = e->next)
		cJSON_AddItemToArray(events, cJSON_CreateString(e->string));
	cJSON_AddNumberToObject(o, "line", SERVE_LINE);
	cJSON_AddNumberToObject(o, "requests", REQUESTS_MAX);
	cJSON_AddNumberToObject(o, "requests_bytes", REQUESTS_BYTES);
	return o;
}

static cJSON *versions(void)
{
	static const int spoken[] = {API_VERSION};

	return cJSON_CreateIntArray(spoken, (int)ARRAY_LEN(spoken));
}

void serve_hello(struct serve *s)
{
	cJSON *o = cJSON_CreateObject(), *server;

	cJSON_AddStringToObject(o, "type", "hello");
	cJSON_AddNumberToObject(o, "version", API_VERSION);
	cJSON_AddItemToObject(o, "versions", versions());
	cJSON_AddNumberToObject(o, "pid", getpid());
	server = cJSON_AddObjectToObject(o, "server");
	cJSON_AddStringToObject(server, "name", "cordon");
	cJSON_AddStringToObject(server, "version", CORDON_VERSION);
	cJSON_AddItemToObject(o, "capabilities", capabilities());
	serve_send(s, o);
}

static int op_hello(struct serve *s, struct request *r)
{
	(void)s;
	if (serve_number(r, "version") == API_VERSION) {
		r->result = cJSON_CreateObject();
		cJSON_AddNumberToObject(r->result, "version", API_VERSION);
		cJSON_AddItemToObject(r->result, "capabilities", capabilities());
		return 0;
	}
	fault_say(&r->fault, FAULT_PROTOCOL_VERSION, "version %.0f is not spoken: %d is",
		  serve_number(r, "version"), API_VERSION);
	r->fault.data = cJSON_CreateObject();
	cJSON_AddItemToObject(r->fault.data, "supported", versions());
	return -1;
}

const struct operation operations[] = {
	{"hello", op_hello, false},
	{"session.start", op_session_start, false},
	{"session.stop", op_session_stop, false},
	{"session.reset", op_session_reset, false},
	{"session.status", op_session_status, false},
	{"undo.rollback", op_rollback, true},
	{"undo.redo", op_redo, true},
	{"undo.restore", op_restore, true},
	{"undo.diff", op_diff, true},
	{"undo.history", op_history, true},
	{"undo.configure", op_undo_configure, true},
	{"undo.discard", op_discard, false},
	{"agent.execute", op_execute, true},
	{"agent.prompt", op_prompt, true},
	{"agent.cancel", op_cancel, true},
	{"agent.resize", op_resize, true},
	{"agent.input", op_input, true},
	{"fs.list", op_list, true},
	{"fs.read", op_read, true},
	{"fs.write", op_write, true},
	{"fs.status", op_fs_status, true},
	{"safeguard.configure", op_safeguard_configure, true},
	{"safeguard.confirm", op_confirm, true},
	{"approval.list", op_approvals, true},
	{"approval.answer", op_answer, true},
	{"review.list", op_review_list, true},
	{"review.done", op_review_done, true},
	{0},
};
