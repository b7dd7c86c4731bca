/* acp - editor and agent: turns, and requests that would leave the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "core/api/acp.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <string.h>

struct stream {
	struct buf held; /* a line that is not whole yet and could be JSON */
	bool inside;	 /* of a line that passes as it comes */
	bool dropping;	 /* of one that is too long */
};

struct acp {
	const struct acp_listener *on;
	void *data;
	bool tools;
	bool spoken; /* the editor has said initialize: it is ACP */
	struct stream editor, agent;
	cJSON *turns[ACP_TURNS]; /* ids of prompts that are open */
	size_t n_turns;
};

struct acp *acp_new(bool tools, const struct acp_listener *on, void *data)
{
	struct acp *a = xcalloc(1, sizeof(*a));

	a->on = on;
	a->data = data;
	a->tools = tools;
	a->editor.held = a->agent.held = (struct buf)BUF_INIT;
	return a;
}

void acp_free(struct acp *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_turns; i++)
		cJSON_Delete(a->turns[i]);
	buf_done(&a->editor.held);
	buf_done(&a->agent.held);
	free(a);
}

static const cJSON *get(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

/* NULL: the line is no JSON, or more than that. */
static cJSON *parse(const char *line, size_t len)
{
	const char *rest = line;
	cJSON *o = cJSON_ParseWithLengthOpts(line, len, &rest, false);

	if (o && strspn(rest, " \t\r\n") >= (size_t)(line + len - rest))
		return o;
	cJSON_Delete(o);
	return NULL;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void turn_begins(struct acp *a, const cJSON *message)
{
	const cJSON *id = get(message, "id");
	const cJSON *prompt = get(get(message, "params"), "prompt"), *block;
	AUTO_BUF struct buf text = BUF_INIT;

	if (!id || a->n_turns == ACP_TURNS)
		return;
	for (block = prompt ? prompt->child : NULL; block; block = block->next) {
		const char *words = cJSON_GetStringValue(get(block, "text"));

		if (words)
			buf_fmt(&text, "%s%.200s", text.len ? " " : "", words);
	}
	a->turns[a->n_turns++] = cJSON_Duplicate(id, true);
	if (a->n_turns == 1)
		a->on->turn(a->data, text.len ? text.data : "prompt");
}

static void turn_ends(struct acp *a, const cJSON *message)
{
	const cJSON *id = get(message, "id");

	if (!id || get(message, "method"))
		return;
	for (size_t i = 0; i < a->n_turns; i++) {
		if (!cJSON_Compare(a->turns[i], id, true))
			continue;
		cJSON_Delete(a->turns[i]);
		a->turns[i] = a->turns[--a->n_turns];
		if (!a->n_turns)
			a->on->turn(a->data, NULL);
		return;
	}
}

/* ---- from the editor ------------------------------------------------------------------------- */

static void set_false(cJSON *o, const char *name)
{
	cJSON_DeleteItemFromObjectCaseSensitive(o, name);
	cJSON_AddFalseToObject(o, name);
}

static void withdraw_tools(cJSON *message, struct buf *out)
{
	cJSON *caps = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(message, "params"), "clientCapabilities");
	cJSON *fs = cJSON_IsObject(caps) ? cJSON_GetObjectItemCaseSensitive(caps, "fs") : NULL;
	char *text;

	if (cJSON_IsObject(fs)) {
		set_false(fs, "readTextFile");
		set_false(fs, "writeTextFile");
	}
	if (cJSON_IsObject(caps))
		set_false(caps, "terminal");
	text = cJSON_PrintUnformatted(message);
	assert(text);
	buf_fmt(out, "%s\n", text);
	cJSON_free(text);
}

static void editor_line(struct acp *a, const char *line, size_t len, struct buf *to_agent)
{
	cJSON *message = parse(line, len);
	const char *method = cJSON_GetStringValue(get(message, "method"));
	bool begins = method && strcmp(method, "initialize") == 0;

	a->spoken |= begins;
	if (method && strcmp(method, "session/prompt") == 0)
		turn_begins(a, message);
	if (begins && !a->tools)
		withdraw_tools(message, to_agent);
	else
		buf_add(to_agent, line, len);
	cJSON_Delete(message);
}

/* ---- from the agent -------------------------------------------------------------------------- */

static bool is_tool(const char *method)
{
	return method && (strncmp(method, "fs/", 3) == 0 || strncmp(method, "terminal/", 9) == 0);
}

/* Of two members of that name parsers take either: all of them count. */
static bool asks_for_tool(const cJSON *message)
{
	const cJSON *one;

	for (one = message ? message->child : NULL; one; one = one->next) {
		if (cJSON_IsArray(message) && asks_for_tool(one) && cJSON_IsObject(one))
			return true;
		if (one->string && strcmp(one->string, "method") == 0 &&
		    is_tool(cJSON_GetStringValue(one)))
			return true;
	}
	return false;
}

/*
 * A line that our parser does not take, an editor's might: deeper nesting, a looser grammar. It
 * passes only if no such method can be in it, however it is written, and never once the editor has
 * spoken ACP: there every line is JSON.
 */
static bool may_pass(const struct acp *a, const char *line, size_t len)
{
	static const char *const signs[] = {"fs/", "fs\\/", "terminal/", "terminal\\/", "\\u"};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (memmem(line, len, signs[i], strlen(signs[i])))
			return false;
	return !a->spoken;
}

static void answer_no(const cJSON *message, struct buf *to_agent)
{
	const cJSON *id = get(message, "id");
	char *text = id ? cJSON_PrintUnformatted(id) : NULL;

	if (text)
		buf_fmt(to_agent,
			"{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":"
			"\"cordon: the editor would do that outside the sandbox: use your own "
			"tools (acp.editor-tools)\"}}\n",
			text);
	cJSON_free(text);
}

/* What comes before the first character of JSON, a byte order mark with it. */
static size_t blanks(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (strchr(" \t\r\n\xef\xbb\xbf", s[n]) != NULL) && s[n])
		n++;
	return n;
}

static void agent_line(struct acp *a, const char *line, size_t len, struct buf *to_editor,
		       struct buf *to_agent)
{
	cJSON *message = parse(line, len);

	if (blanks(line, len) == len) {
		buf_add(to_editor, line, len);
		return;
	}
	if (message)
		turn_ends(a, message);
	if (!a->tools && message && asks_for_tool(message)) {
		answer_no(message, to_agent);
		a->on->refused(a->data,
			       "the agent asked its editor to read, write or run something");
	} else if (a->tools || message || may_pass(a, line, len)) {
		buf_add(to_editor, line, len);
	} else {
		a->on->refused(a->data, "a line of the agent's that is no sound JSON");
	}
	cJSON_Delete(message);
}

/* ---- streams --------------------------------------------------------------------------------- */

typedef void (*on_line)(struct acp *a, const char *line, size_t len, struct buf *out,
			struct buf *back);

static bool could_be_json(const struct buf *line)
{
	size_t n = blanks(line->data, line->len);

	return n == line->len || line->data[n] == '{' || line->data[n] == '[';
}

static void take_piece(struct acp *a, struct stream *s, const char *piece, size_t len, bool whole,
		       on_line fn, struct buf *out, struct buf *back)
{
	bool agents = s == &a->agent;

	if (s->dropping || s->inside) {
		if (s->inside)
			buf_add(out, piece, len);
		s->dropping = s->dropping && !whole;
		s->inside = s->inside && !whole;
		return;
	}
	buf_add(&s->held, piece, len);
	if (could_be_json(&s->held) && !whole && s->held.len <= ACP_LINE)
		return;
	if (s->held.len > ACP_LINE && agents && !a->tools && could_be_json(&s->held)) {
		s->dropping = !whole;
		a->on->refused(a->data, "a line of the agent's that is too long");
	} else if (could_be_json(&s->held) && s->held.len <= ACP_LINE) {
		fn(a, s->held.data, s->held.len, out, back);
	} else if (agents && !a->tools && a->spoken) { /* some parsers end a line elsewhere */
		s->dropping = !whole;
		a->on->refused(a->data, "a line of the agent's that is no JSON");
	} else {
		buf_add(out, s->held.data, s->held.len);
		s->inside = !whole;
	}
	buf_clear(&s->held);
}

/* A carriage return ends a line for some who read. */
static const char *line_end(const struct acp *a, const struct stream *s, const char *bytes,
			    size_t len)
{
	const char *newline = memchr(bytes, '\n', len);
	const char *cr = s == &a->agent && !a->tools ? memchr(bytes, '\r', len) : NULL;

	return cr && (!newline || cr < newline) ? cr : newline;
}

static void take(struct acp *a, struct stream *s, const char *bytes, size_t len, bool over,
		 on_line fn, struct buf *out, struct buf *back)
{
	while (len) {
		const char *newline = line_end(a, s, bytes, len);
		size_t n = newline ? (size_t)(newline - bytes) + 1 : len;

		take_piece(a, s, bytes, n, newline != NULL, fn, out, back);
		bytes += n;
		len -= n;
	}
	if (over && s->held.len)
		take_piece(a, s, "", 0, true, fn, out, back);
}

static void on_editor_line(struct acp *a, const char *line, size_t len, struct buf *out,
			   struct buf *back)
{
	(void)back;
	editor_line(a, line, len, out);
}

void acp_from_editor(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_agent)
{
	take(a, &a->editor, bytes, len, over, on_editor_line, to_agent, NULL);
}

void acp_from_agent(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_editor,
		    struct buf *to_agent)
{
	take(a, &a->agent, bytes, len, over, agent_line, to_editor, to_agent);
}
