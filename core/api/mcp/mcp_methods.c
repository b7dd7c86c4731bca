/* mcp_methods - MCP: negotiates revisions, lists tools, serves resources. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/api/mcp/mcp_priv.h"
#include "core/api/request_line.h"
#include "core/api/schema.h"
#include "core/base/json.h"

#define LISTED	   100 /* steps listed as resources */
#define CLIENT_MAX 40  /* characters of a client's name */

#define META_VERSION	  "io.modelcontextprotocol/protocolVersion"
#define META_CLIENT	  "io.modelcontextprotocol/clientInfo"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

static void fail(const struct rpc *r, int code, const char *words, cJSON *data)
{
	mcp_error(r->conn, r->batch, r->id, code, words, data);
}

static void succeed(const struct rpc *r, bool cached, cJSON *result)
{
	mcp_result(r->conn, r->batch, r->id, r->modern, cached, result);
}

/* ---- revisions ------------------------------------------------------------------------------- */

static void add_capabilities(cJSON *o)
{
	cJSON *c = cJSON_AddObjectToObject(o, "capabilities");

	cJSON_AddObjectToObject(c, "tools");
	cJSON_AddObjectToObject(c, "resources");
	cJSON_AddItemToObject(o, "instructions",
			      cJSON_Duplicate(schema_find("mcp.json", "instructions"), true));
}

/* Calls the session that its requests start by the client's name: "claude-code by cordon mcp". */
static void take_name(const struct rpc *r)
{
	const cJSON *info =
		r->modern ? json_get(r->meta, META_CLIENT) : json_get(r->params, "clientInfo");
	const char *name = cJSON_GetStringValue(json_get(info, "name"));
	struct serve *s = r->conn->server->serve;
	AUTO_BUF struct buf title = BUF_INIT;

	for (size_t i = 0; name && name[i] && i < CLIENT_MAX; i++)
		buf_ch(&title, isalnum((unsigned char)name[i]) ? name[i] : '-');
	if (!title.len || s->client)
		return;
	buf_str(&title, " by cordon mcp");
	s->client = buf_take(&title);
}

/* Chooses the requested revision if it is supported, else the newest one. */
static void initialize(const struct rpc *r)
{
	const char *wanted = cJSON_GetStringValue(json_get(r->params, "protocolVersion"));
	const cJSON *spoken = schema_find("mcp.json", "legacy"), *one;
	cJSON *o, *who;

	if (!wanted || !cJSON_IsObject(json_get(r->params, "capabilities"))) {
		fail(r, RPC_PARAMS, "initialize: protocolVersion or capabilities are missing",
		     NULL);
		return;
	}
	r->conn->legacy = spoken->child->valuestring;
	for (one = spoken->child; one; one = one->next)
		if (str_eq(one->valuestring, wanted))
			r->conn->legacy = one->valuestring;
	r->conn->elicits =
		cJSON_IsObject(json_get(json_get(r->params, "capabilities"), "elicitation"));
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "protocolVersion", r->conn->legacy);
	add_capabilities(o);
	who = cJSON_AddObjectToObject(o, "serverInfo");
	cJSON_AddStringToObject(who, "name", "cordon");
	cJSON_AddStringToObject(who, "version", CORDON_VERSION);
	succeed(r, false, o);
}

static void discover(const struct rpc *r)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddItemToObject(o, "supportedVersions",
			      cJSON_Duplicate(schema_find("mcp.json", "versions"), true));
	add_capabilities(o);
	succeed(r, true, o);
}

static void ping(const struct rpc *r)
{
	succeed(r, false, cJSON_CreateObject());
}

/* Answers a subscription. Nothing that it could report changes here, so it stays silent until the
 * client ends it. */
static void listen_for(const struct rpc *r)
{
	cJSON *params = cJSON_CreateObject(), *meta = cJSON_AddObjectToObject(params, "_meta");

	cJSON_AddItemToObject(meta, "io.modelcontextprotocol/subscriptionId",
			      cJSON_Duplicate(r->id, true));
	cJSON_AddObjectToObject(params, "notifications");
	mcp_send(r->conn, NULL, mcp_message("notifications/subscriptions/acknowledged", params));
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Returns whether the request has a cursor, which is refused: there is only one page. */
static bool has_cursor(const struct rpc *r)
{
	if (!json_get(r->params, "cursor"))
		return false;
	fail(r, RPC_PARAMS, "cursor: there is one page, and no other", NULL);
	return true;
}

static void list_tools(const struct rpc *r)
{
	cJSON *o;

	if (has_cursor(r))
		return;
	o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "tools", cJSON_Duplicate(schema_find("mcp.json", "tools"), true));
	succeed(r, true, o);
}

static void list_templates(const struct rpc *r)
{
	cJSON *o;

	if (has_cursor(r))
		return;
	o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "resourceTemplates",
			      cJSON_Duplicate(schema_find("mcp.json", "resourceTemplates"), true));
	succeed(r, true, o);
}

static void add_resource(cJSON *list, const char *uri, const char *name, const char *title,
			 const char *type)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "uri", uri);
	cJSON_AddStringToObject(o, "name", name);
	describe_add(o, "title", title);
	cJSON_AddStringToObject(o, "mimeType", type);
	cJSON_AddItemToArray(list, o);
}

static void add_step(cJSON *list, const struct step_info *step)
{
	AUTO_FREE char *uri = xasprintf("cordon://step/%" PRId64, step->id);
	AUTO_FREE char *diff = xasprintf("%s/diff", uri);
	AUTO_FREE char *name = xasprintf("step-%" PRId64, step->id);
	AUTO_FREE char *diff_name = xasprintf("%s-diff", name);
	AUTO_FREE char *title =
		xasprintf("Step %" PRId64 ": %.200s", step->id, step->command ? step->command : "");

	add_resource(list, uri, name, title, "application/json");
	add_resource(list, diff, diff_name, title, "text/x-diff");
}

static struct journal *journal_of(const struct rpc *r)
{
	struct serve *s = r->conn->server->serve;

	return s->engine ? session_journal(engine_session(s->engine)) : NULL;
}

static void list_resources(const struct rpc *r)
{
	struct journal *j = journal_of(r);
	struct step_info *steps = NULL;
	cJSON *o, *list;
	size_t n = 0;

	if (has_cursor(r))
		return;
	o = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(o, "resources");
	add_resource(list, "cordon://session", "session", "The session", "application/json");
	if (j && journal_list(j, false, &steps, &n, NULL) == 0) {
		for (size_t i = 0; i < n && i < LISTED; i++)
			add_step(list, &steps[i]);
		step_info_free(steps, n);
	}
	succeed(r, true, o);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void send_content(const struct rpc *r, const char *uri, const char *type, cJSON *text)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "contents");
	cJSON *one = cJSON_CreateObject();

	describe_add(one, "uri", uri);
	cJSON_AddStringToObject(one, "mimeType", type);
	cJSON_AddItemToObject(one, "text", text);
	cJSON_AddItemToArray(list, one);
	succeed(r, true, o);
}

static void send_json(const struct rpc *r, const char *uri, cJSON *value)
{
	char *text = json_print(value);

	request_line_strict(text);
	send_content(r, uri, "application/json", describe_text(text));
	free(text);
	cJSON_Delete(value);
}

static cJSON *step_json(struct journal *j, int64_t id)
{
	struct step_info *steps = NULL;
	cJSON *o = NULL;
	size_t n = 0;

	if (!j || journal_list(j, false, &steps, &n, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < n && !o; i++)
		if (steps[i].id == id)
			o = describe_step(j, &steps[i]);
	step_info_free(steps, n);
	return o;
}

static bool send_diff(const struct rpc *r, const char *uri, int64_t id)
{
	struct serve *s = r->conn->server->serve;
	struct diff_request d = {.from = id, .to = id, .most = 1u << 20};
	struct fault f = {0};
	cJSON *o = NULL;

	if (!s->engine || describe_diff(s->engine, &d, &o, &f) < 0) {
		fault_done(&f);
		return false;
	}
	send_content(r, uri, "text/x-diff", cJSON_DetachItemFromObject(o, "diff"));
	cJSON_Delete(o);
	return true;
}

static void read_resource(const struct rpc *r)
{
	const char *uri = cJSON_GetStringValue(json_get(r->params, "uri"));
	struct serve *s = r->conn->server->serve;
	struct fault f = {0};
	cJSON *o = NULL;
	long long id = 0;
	char rest[8] = "";
	bool done = false;

	if (!uri) {
		fail(r, RPC_PARAMS, "uri: is missing", NULL);
		return;
	}
	if (serve_need_session(s, &f) < 0) {
		fail(r, RPC_INTERNAL, f.message, NULL);
		fault_done(&f);
		return;
	}
	if (str_eq(uri, "cordon://session"))
		o = describe_status(s->engine, &s->dirs, NULL, s->failed);
	else if (sscanf(uri, "cordon://step/%lld%7s", &id, rest) >= 1 && !*rest)
		o = step_json(journal_of(r), id);
	else if (id && str_eq(rest, "/diff"))
		done = send_diff(r, uri, id);
	if (o)
		send_json(r, uri, o);
	if (o || done)
		return;
	o = cJSON_CreateObject();
	describe_add(o, "uri", uri);
	fail(r, r->modern ? RPC_PARAMS : RPC_NOT_FOUND, "there is no such resource", o);
}

/* ---- messages -------------------------------------------------------------------------------- */

enum {
	LEGACY = 1,
	MODERN = 2,
	FIRST = 4, /* allowed before initialize */
};

static const struct method {
	const char *name;
	void (*fn)(const struct rpc *r);
	unsigned when;
} methods[] = {
	{"initialize", initialize, LEGACY | FIRST},
	{"ping", ping, LEGACY | FIRST},
	{"server/discover", discover, MODERN},
	{"tools/list", list_tools, LEGACY | MODERN},
	{"tools/call", mcp_call_tool, LEGACY | MODERN},
	{"resources/list", list_resources, LEGACY | MODERN},
	{"resources/templates/list", list_templates, LEGACY | MODERN},
	{"resources/read", read_resource, LEGACY | MODERN},
	{"subscriptions/listen", listen_for, MODERN},
};

/* Checks the members that a request of the stateless revisions needs. Returns false if it has
 * answered the request. */
static bool check_meta(const struct rpc *r)
{
	const cJSON *version = json_get(r->meta, META_VERSION), *one;
	cJSON *data;

	if (!cJSON_IsString(version) || !cJSON_IsObject(json_get(r->meta, META_CAPABILITIES))) {
		fail(r, RPC_PARAMS,
		     "_meta: " META_VERSION " must be a string, " META_CAPABILITIES " an object",
		     NULL);
		return false;
	}
	for (one = schema_find("mcp.json", "versions")->child; one; one = one->next)
		if (str_eq(one->valuestring, version->valuestring))
			return true;
	data = cJSON_CreateObject();
	cJSON_AddItemToObject(data, "supported",
			      cJSON_Duplicate(schema_find("mcp.json", "versions"), true));
	describe_add(data, "requested", version->valuestring);
	fail(r, RPC_VERSION, "Unsupported protocol version", data);
	return false;
}

static void serve_request(const struct rpc *r)
{
	const struct method *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (str_eq(methods[i].name, r->method))
			found = &methods[i];
	if (!r->modern && !r->conn->legacy && !(found && found->when & FIRST)) {
		fail(r, RPC_PARAMS,
		     "begin with initialize, or name " META_VERSION " in _meta of each request",
		     NULL);
		return;
	}
	if (!found || !(found->when & (r->modern ? MODERN : LEGACY))) {
		fail(r, RPC_METHOD, "there is no such method", NULL);
		return;
	}
	take_name(r);
	found->fn(r);
}

static bool is_rpc_id(const cJSON *id)
{
	return id && request_line_is_id(id);
}

static void serve_notification(const struct rpc *r)
{
	if (str_eq(r->method, "notifications/cancelled"))
		mcp_cancel(r->conn, json_get(r->params, "requestId"));
}

void mcp_serve(struct mcp_conn *c, struct batch *b, const cJSON *message)
{
	const cJSON *id = json_get(message, "id"), *params = json_get(message, "params");
	struct rpc r = {.conn = c,
			.batch = b,
			.id = id,
			.method = cJSON_GetStringValue(json_get(message, "method")),
			.params = params,
			.meta = json_get(params, "_meta")};

	if (!r.method && id && (json_get(message, "result") || json_get(message, "error"))) {
		mcp_answered(c, message);
		return;
	}
	if (r.method && !id) {
		serve_notification(&r);
		return;
	}
	if (b)
		b->open++;
	if (!r.method || !is_rpc_id(id) ||
	    !str_eq(cJSON_GetStringValue(json_get(message, "jsonrpc")), "2.0") ||
	    (params && !cJSON_IsObject(params))) {
		mcp_error(c, b, is_rpc_id(id) ? id : NULL, RPC_REQUEST,
			  "not a JSON-RPC 2.0 request", NULL);
		return;
	}
	r.modern = json_get(r.meta, META_VERSION) != NULL;
	if (!r.modern || check_meta(&r))
		serve_request(&r);
}
