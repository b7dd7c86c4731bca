/* acp_tools - holds requests of an agent to its editor until an answer comes. */
/* SPDX-License-Identifier: MIT */
#include "core/api/acp/acp_priv.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "core/api/describe.h"
#include "core/api/fault.h"
#include "core/base/json.h"
#include "core/base/text.h"

#define CANCELLED   (-32800)
#define MEMBERS_MAX 64 /* members of one object */

struct held {
	uint64_t id;
	cJSON *message;
	size_t len; /* length of its line */
};

struct terminal {
	cJSON *request; /* id of the request that creates it, until the editor answers; then NULL */
	char *name;	/* the editor's name for it */
};

struct acp_tools_held {
	const struct acp_listener *on;
	void *data;
	uint64_t last;
	struct held held[ACP_HELD];
	size_t n, bytes;
	struct terminal terminals[ACP_TERMINALS];
	size_t n_terminals;
};

struct acp_tools_held *acp_tools_new(const struct acp_listener *on, void *data)
{
	struct acp_tools_held *t = xcalloc(1, sizeof(*t));

	t->on = on;
	t->data = data;
	return t;
}

static void terminal_done(struct terminal *t)
{
	cJSON_Delete(t->request);
	free(t->name);
}

void acp_tools_free(struct acp_tools_held *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		cJSON_Delete(t->held[i].message);
	for (size_t i = 0; t && i < t->n_terminals; i++)
		terminal_done(&t->terminals[i]);
	free(t);
}

void acp_refuse(const cJSON *message, int code, const char *words, struct buf *to_agent)
{
	const cJSON *id = json_get(message, "id");
	cJSON *o, *error;
	char *line;

	if (!id)
		return;
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "jsonrpc", "2.0");
	cJSON_AddItemToObject(o, "id", cJSON_Duplicate(id, true));
	error = cJSON_AddObjectToObject(o, "error");
	cJSON_AddNumberToObject(error, "code", code);
	cJSON_AddStringToObject(error, "message", words);
	line = json_print(o);
	assert(line);
	buf_fmt(to_agent, "%s\n", line);
	free(line);
	cJSON_Delete(o);
}

/* ---- one meaning only ------------------------------------------------------------------------ */

/* Returns whether two members have one name. Parsers take either, and some ignore case. */
static bool has_twins(const cJSON *o)
{
	const cJSON *one, *other;
	size_t n = 0;

	for (one = o->child; one; one = one->next) {
		if (has_twins(one) || (cJSON_IsObject(o) && ++n > MEMBERS_MAX))
			return true;
		for (other = one->next; other && cJSON_IsObject(o); other = other->next)
			if (strcasecmp(one->string, other->string) == 0)
				return true;
	}
	return false;
}

/* Returns whether the line has a NUL, where our parser ends a string. */
static bool has_nul(const char *line, size_t len)
{
	const char *end = line + len;

	for (const char *at = line; (at = memchr(at, '\\', (size_t)(end - at))); at += 2) {
		if (end - at < 2)
			return false;
		if (end - at >= 6 && memcmp(at, "\\u0000", 6) == 0)
			return true;
	}
	return memchr(line, '\0', len) != NULL;
}

/* Returns whether the members are exactly as named in the protocol. An editor may ignore case and
 * be loose with types, so this ensures that it reads only what is shown. */
static bool is_as_named(const cJSON *params)
{
	static const struct {
		const char *name;
		bool list;
	} known[] = {{"path", false}, {"command", false}, {"cwd", false},
		     {"args", true},  {"env", true},	  {"terminalId", false}};
	const cJSON *one;

	for (one = params->child; one; one = one->next)
		for (size_t i = 0; i < ARRAY_LEN(known); i++) {
			if (strcasecmp(one->string, known[i].name) != 0)
				continue;
			if (!str_eq(one->string, known[i].name))
				return false;
			if (!cJSON_IsNull(one) &&
			    !(known[i].list ? cJSON_IsArray(one) : cJSON_IsString(one)))
				return false;
		}
	return true;
}

static bool is_clear(const cJSON *message, const char *line, size_t len)
{
	const cJSON *id = json_get(message, "id");

	return cJSON_IsObject(message) && !has_nul(line, len) && describe_is_utf8(line, len) &&
	       (cJSON_IsString(id) || cJSON_IsNumber(id)) &&
	       cJSON_IsObject(json_get(message, "params")) &&
	       is_as_named(json_get(message, "params")) && !has_twins(message);
}

/* ---- subject of a request -------------------------------------------------------------------- */

static bool is_plain_path(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	return len && *path == '/' && !strstr(path, "/../") &&
	       (len < 3 || strcmp(path + len - 3, "/..") != 0);
}

/* Writes "cd /dir && NAME=value command 'an argument'". */
static bool command_line(const cJSON *params, struct buf *out)
{
	const char *cwd = json_text(params, "cwd"), *command = json_text(params, "command");
	const cJSON *one;

	if (!command || !*command ||
	    (json_get(params, "cwd") && !cJSON_IsNull(json_get(params, "cwd")) && !cwd))
		return false;
	if (cwd) {
		buf_str(out, "cd ");
		text_shell_word(out, cwd);
		buf_str(out, " && ");
	}
	cJSON_ArrayForEach(one, json_get(params, "env"))
	{
		const char *name = json_text(one, "name"), *value = json_text(one, "value");

		if (!name || !value)
			return false;
		text_shell_word(out, name);
		buf_ch(out, '=');
		text_shell_word(out, value);
		buf_ch(out, ' ');
	}
	/* The editor's shell may interpret it: it is shown as it is written. */
	buf_str(out, command);
	cJSON_ArrayForEach(one, json_get(params, "args"))
	{
		if (!cJSON_IsString(one))
			return false;
		buf_ch(out, ' ');
		text_shell_word(out, one->valuestring);
	}
	return true;
}

static bool describe(const cJSON *message, enum acp_act *ret, struct buf *what)
{
	const char *method = json_text(message, "method");
	const cJSON *params = json_get(message, "params");
	const char *path = json_text(params, "path");

	if (!method)
		return false;
	if (str_eq(method, "terminal/create")) {
		*ret = ACP_RUN;
		return command_line(params, what) && what->len <= ACP_WORDS;
	}
	if (!is_plain_path(path) || strlen(path) > ACP_WORDS)
		return false;
	*ret = str_eq(method, "fs/read_text_file") ? ACP_READ : ACP_WRITE;
	buf_str(what, path);
	return *ret == ACP_READ || str_eq(method, "fs/write_text_file");
}

/* ---- terminals ------------------------------------------------------------------------------- */

/* Returns whether the request is about an allowed terminal: its output or its end. */
static bool is_of_terminal(struct acp_tools_held *t, const cJSON *message)
{
	static const char *const methods[] = {"terminal/output", "terminal/wait_for_exit",
					      "terminal/kill", "terminal/release"};
	const char *name = json_text(json_get(message, "params"), "terminalId");
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		known = known || str_eq(json_text(message, "method"), methods[i]);
	for (size_t i = 0; known && name && i < t->n_terminals; i++) {
		struct terminal *one = &t->terminals[i];

		if (!str_eq(one->name, name))
			continue;
		if (str_eq(json_text(message, "method"), "terminal/release")) {
			terminal_done(one);
			*one = t->terminals[--t->n_terminals];
		}
		return true;
	}
	return false;
}

static void expect_terminal(struct acp_tools_held *t, const cJSON *message)
{
	t->terminals[t->n_terminals++] =
		(struct terminal){.request = cJSON_Duplicate(json_get(message, "id"), true)};
}

void acp_tools_from_editor(struct acp_tools_held *t, const cJSON *message)
{
	const char *name = json_text(json_get(message, "result"), "terminalId");

	for (size_t i = 0; i < t->n_terminals && !json_get(message, "method"); i++) {
		struct terminal *one = &t->terminals[i];

		if (!one->request || !cJSON_Compare(one->request, json_get(message, "id"), true))
			continue;
		if (name) {
			cJSON_Delete(one->request);
			one->request = NULL;
			one->name = xstrdup(name);
		} else {
			terminal_done(one);
			*one = t->terminals[--t->n_terminals];
		}
		return;
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Passes a request on, printed anew: the editor reads exactly what was checked. */
static void pass(struct acp_tools_held *t, const cJSON *message, struct buf *to_editor,
		 struct buf *to_agent)
{
	bool makes = str_eq(json_text(message, "method"), "terminal/create");
	char *line;

	if (makes && t->n_terminals == ACP_TERMINALS) {
		acp_refuse(message, FAULT_PROTOCOL_BUSY,
			   "cordon: too many terminals: release some first", to_agent);
		return;
	}
	if (makes)
		expect_terminal(t, message);
	line = json_print(message);
	assert(line);
	buf_fmt(to_editor, "%s\n", line);
	free(line);
}

static void refuse(struct acp_tools_held *t, const cJSON *message, const char *why,
		   struct buf *to_agent)
{
	AUTO_FREE char *words =
		xasprintf("cordon: %s: use your own tools, which work inside the sandbox", why);

	acp_refuse(message, FAULT_FS_DENIED, words, to_agent);
	t->on->refused(t->data, "the agent asked its editor to read, write or run something");
}

static void hold(struct acp_tools_held *t, uint64_t id, const cJSON *message, size_t len)
{
	t->held[t->n++] =
		(struct held){.id = id, .message = cJSON_Duplicate(message, true), .len = len};
	t->bytes += len;
}

void acp_tools_request(struct acp_tools_held *t, const cJSON *message, const char *line, size_t len,
		       struct buf *to_editor, struct buf *to_agent)
{
	AUTO_BUF struct buf what = BUF_INIT;
	bool clear = is_clear(message, line, len);
	enum acp_act act;

	if (clear && is_of_terminal(t, message)) {
		pass(t, message, to_editor, to_agent);
		return;
	}
	if (!clear || !describe(message, &act, &what)) {
		refuse(t, message, "that is no request that can be asked about", to_agent);
		return;
	}
	if (t->n == ACP_HELD || t->bytes + len > ACP_LINE) {
		acp_refuse(message, FAULT_PROTOCOL_BUSY,
			   "cordon: too many requests wait for an answer", to_agent);
		return;
	}
	switch (t->on->asks(t->data, ++t->last, act, what.data)) {
	case ACP_ALLOW:
		pass(t, message, to_editor, to_agent);
		break;
	case ACP_DENY:
		refuse(t, message, "not allowed", to_agent);
		break;
	case ACP_HOLD:
		hold(t, t->last, message, len);
		break;
	}
}

static void drop(struct acp_tools_held *t, size_t i)
{
	t->bytes -= t->held[i].len;
	cJSON_Delete(t->held[i].message);
	t->n--;
	memmove(&t->held[i], &t->held[i + 1], (t->n - i) * sizeof(*t->held));
}

void acp_tools_from_agent(struct acp_tools_held *t, const cJSON *message, struct buf *to_agent)
{
	const cJSON *id = json_get(json_get(message, "params"), "requestId");

	if (!id || !str_eq(json_text(message, "method"), "$/cancel_request"))
		return;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t held = t->held[i].id;

		if (!cJSON_Compare(json_get(t->held[i].message, "id"), id, true))
			continue;
		acp_refuse(t->held[i].message, CANCELLED, "cordon: cancelled", to_agent);
		drop(t, i);
		t->on->withdrawn(t->data, held);
		return;
	}
}

void acp_tools_answer(struct acp_tools_held *t, uint64_t id, bool allow, const char *why,
		      struct buf *to_editor, struct buf *to_agent)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->held[i].id != id)
			continue;
		if (allow)
			pass(t, t->held[i].message, to_editor, to_agent);
		else
			refuse(t, t->held[i].message, why, to_agent);
		drop(t, i);
		return;
	}
}
