/* acp - editor and agent: turns, and requests that would leave the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "core/api/acp/acp_priv.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "core/api/request_line.h"
#include "core/base/json.h"

#define FIRST_LINE (1u << 20) /* of the editor's first line, at most */

struct stream {
	struct buf held; /* the beginning of a line that could be JSON */
	bool inside;	 /* in a line that passes unread */
	bool dropping;	 /* in a line that is too long */
};

enum speech {
	SPEECH_UNKNOWN, /* the editor, which speaks first, has sent nothing */
	SPEECH_ACP,	/* its first line was JSON-RPC */
	SPEECH_BYTES,	/* its first line was something else: all bytes pass */
};

struct acp {
	const struct acp_listener *on;
	void *data;
	enum acp_tools tools;
	struct acp_tools_held *held; /* ACP_TOOLS_ASK; else NULL */
	enum speech speech;
	struct stream editor, agent;
	bool stalled;		 /* bytes of the agent wait for the editor's first line */
	struct buf waiting;	 /* these bytes */
	cJSON *turns[ACP_TURNS]; /* ids of open prompts */
	size_t n_turns;
	cJSON *permission; /* id of the newest request for permission that is open, or NULL */
};

struct acp *acp_new(enum acp_tools tools, const struct acp_listener *on, void *data)
{
	struct acp *a = xcalloc(1, sizeof(*a));

	a->on = on;
	a->data = data;
	a->tools = tools;
	a->held = tools == ACP_TOOLS_ASK ? acp_tools_new(on, data) : NULL;
	a->editor.held = a->agent.held = a->waiting = (struct buf)BUF_INIT;
	return a;
}

void acp_free(struct acp *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_turns; i++)
		cJSON_Delete(a->turns[i]);
	cJSON_Delete(a->permission);
	buf_done(&a->editor.held);
	buf_done(&a->agent.held);
	buf_done(&a->waiting);
	acp_tools_free(a->held);
	free(a);
}

/* Returns NULL if the line is not JSON, has more after it, or has too many values. */
static cJSON *parse(const char *line, size_t len)
{
	const char *rest = line;
	cJSON *o = request_line_is_modest(line, len)
			   ? cJSON_ParseWithLengthOpts(line, len, &rest, false)
			   : NULL;

	if (o && strspn(rest, " \t\r\n") >= (size_t)(line + len - rest))
		return o;
	cJSON_Delete(o);
	return NULL;
}

/* ---- permission ------------------------------------------------------------------------------ */

static void permission_begins(struct acp *a, const cJSON *message)
{
	const char *method = cJSON_GetStringValue(json_get(message, "method"));
	const cJSON *id = json_get(message, "id");

	if (!id || !method || strcmp(method, "session/request_permission") != 0)
		return;
	cJSON_Delete(a->permission);
	a->permission = cJSON_Duplicate(id, true);
	a->on->permission(a->data, true);
}

/* Ends a request for permission: by the editor's answer, or because the turn is over (id NULL). */
static void permission_ends(struct acp *a, const cJSON *id)
{
	if (!a->permission || (id && !cJSON_Compare(a->permission, id, true)))
		return;
	cJSON_Delete(a->permission);
	a->permission = NULL;
	a->on->permission(a->data, false);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void turn_begins(struct acp *a, const cJSON *message)
{
	const cJSON *id = json_get(message, "id");
	const cJSON *prompt = json_get(json_get(message, "params"), "prompt"), *block;
	AUTO_BUF struct buf text = BUF_INIT;

	if (!id || a->n_turns == ACP_TURNS)
		return;
	for (block = prompt ? prompt->child : NULL; block; block = block->next) {
		const char *words = cJSON_GetStringValue(json_get(block, "text"));

		if (words)
			buf_fmt(&text, "%s%.200s", text.len ? " " : "", words);
	}
	a->turns[a->n_turns++] = cJSON_Duplicate(id, true);
	if (a->n_turns == 1)
		a->on->turn(a->data, text.len ? text.data : "prompt");
}

static void turn_ends(struct acp *a, const cJSON *message)
{
	const cJSON *id = json_get(message, "id");

	if (!id || json_get(message, "method"))
		return;
	for (size_t i = 0; i < a->n_turns; i++) {
		if (!cJSON_Compare(a->turns[i], id, true))
			continue;
		cJSON_Delete(a->turns[i]);
		a->turns[i] = a->turns[--a->n_turns];
		if (!a->n_turns) {
			permission_ends(a, NULL);
			a->on->turn(a->data, NULL);
		}
		return;
	}
}

/* ---- from the editor ------------------------------------------------------------------------- */

static void set_false(cJSON *o, const char *name)
{
	cJSON_DeleteItemFromObjectCaseSensitive(o, name);
	cJSON_AddFalseToObject(o, name);
}

static void pass_anew(const cJSON *message, struct buf *out)
{
	char *text = json_print(message);

	assert(text);
	buf_fmt(out, "%s\n", text);
	free(text);
}

static void withdraw_tools(cJSON *message, enum acp_tools tools)
{
	cJSON *caps = json_get(json_get(message, "params"), "clientCapabilities");
	cJSON *fs = cJSON_IsObject(caps) ? json_get(caps, "fs") : NULL;

	acp_login_unoffered(caps);
	if (tools == ACP_TOOLS_ASK)
		return;
	if (cJSON_IsObject(fs)) {
		set_false(fs, "readTextFile");
		set_false(fs, "writeTextFile");
	}
	if (cJSON_IsObject(caps))
		set_false(caps, "terminal");
}

/* Returns whether the prompt has a further block. It is added last, because an agent looks for
 * commands of its own in the first one. */
static bool add_notices(struct acp *a, cJSON *message)
{
	cJSON *prompt = json_get(json_get(message, "params"), "prompt");
	AUTO_FREE char *text =
		cJSON_IsArray(prompt) && a->on->notices ? a->on->notices(a->data) : NULL;
	cJSON *block = text ? cJSON_CreateObject() : NULL;

	if (!block)
		return false;
	cJSON_AddStringToObject(block, "type", "text");
	cJSON_AddStringToObject(block, "text", text);
	cJSON_AddItemToArray(prompt, block);
	return true;
}

static void editor_line(struct acp *a, const char *line, size_t len, struct buf *to_agent)
{
	cJSON *message = parse(line, len);
	const char *method = cJSON_GetStringValue(json_get(message, "method"));
	bool begins = method && strcmp(method, "initialize") == 0, more = false;

	if (a->speech == SPEECH_UNKNOWN)
		a->speech = method || json_get(message, "jsonrpc") ? SPEECH_ACP : SPEECH_BYTES;
	if (method && strcmp(method, "session/prompt") == 0) {
		turn_begins(a, message);
		more = add_notices(a, message);
	}
	if (message && !method && json_get(message, "id"))
		permission_ends(a, json_get(message, "id"));
	if (a->held && message)
		acp_tools_from_editor(a->held, message);
	if (begins && a->tools != ACP_TOOLS_ON) {
		withdraw_tools(message, a->tools);
		pass_anew(message, to_agent);
	} else if (more) {
		pass_anew(message, to_agent);
	} else {
		buf_add(to_agent, line, len);
	}
	cJSON_Delete(message);
}

/* ---- from the agent -------------------------------------------------------------------------- */

static void answer_tool(struct acp *a, const cJSON *message, const char *line, size_t len,
			struct buf *to_editor, struct buf *to_agent)
{
	if (a->held && acp_is_tool(cJSON_GetStringValue(json_get(message, "method")))) {
		acp_tools_request(a->held, message, line, len, to_editor, to_agent);
		return;
	}
	acp_refuse(message, -32601,
		   "cordon: the editor would do that outside the sandbox: use your own tools "
		   "(acp.editor-tools)",
		   to_agent);
	a->on->refused(a->data, "the agent asked its editor to read, write or run something");
}

static void agent_line(struct acp *a, const char *line, size_t len, struct buf *to_editor,
		       struct buf *to_agent)
{
	bool passes = a->tools == ACP_TOOLS_ON, empty = acp_blanks(line, len) == len;
	cJSON *message =
		empty || (!passes && acp_has_controls(line, len)) ? NULL : parse(line, len);
	bool asks = !passes && acp_asks_for_more(message);
	bool odd = !passes && acp_has_odd_name(message, asks || json_get(message, "id") != NULL);
	bool logs_in = !passes && !asks && acp_login(message, false);
	bool known = a->speech == SPEECH_ACP;

	if (message)
		turn_ends(a, message);
	if (a->held && message && !asks && !odd)
		acp_tools_from_agent(a->held, message, to_agent);
	if (passes || empty || (message && !asks && !logs_in && !odd)) {
		permission_begins(a, message);
		buf_add(to_editor, line, len);
	} else if (!known && (message || !acp_is_harmless(line, len))) {
		a->stalled = true;
		buf_add(&a->waiting, line, len);
	} else if (!known) {
		buf_add(to_editor, line, len);
	} else if (odd) {
		acp_refuse(message, -32600, "cordon: a member's name is beyond ASCII", to_agent);
		a->on->refused(a->data, "a line of the agent's with a name beyond ASCII");
	} else if (asks) {
		answer_tool(a, message, line, len, to_editor, to_agent);
	} else if (logs_in) {
		acp_login(message, true);
		pass_anew(message, to_editor);
		a->on->refused(a->data,
			       "a command to log in with that the agent has for its editor");
	} else { /* here each line must be JSON */
		a->on->refused(a->data,
			       "a line of the agent's that is no sound JSON, or too much of it");
	}
	cJSON_Delete(message);
}

/* ---- streams --------------------------------------------------------------------------------- */

typedef void (*on_line)(struct acp *a, const char *line, size_t len, struct buf *out,
			struct buf *back);

static bool could_be_json(const struct buf *line)
{
	size_t n = acp_blanks(line->data, line->len);

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
	if (s->held.len > ACP_LINE && agents && a->tools != ACP_TOOLS_ON &&
	    could_be_json(&s->held)) {
		s->dropping = !whole;
		a->on->refused(a->data, "a line of the agent's that is too long");
	} else if (could_be_json(&s->held) && s->held.len <= ACP_LINE) {
		fn(a, s->held.data, s->held.len, out, back);
	} else if (agents && a->tools != ACP_TOOLS_ON &&
		   a->speech == SPEECH_ACP) { /* some parsers end a line at other signs */
		s->dropping = !whole;
		a->on->refused(a->data, "a line of the agent's that is no JSON");
	} else {
		buf_add(out, s->held.data, s->held.len);
		s->inside = !whole;
	}
	buf_clear(&s->held);
}

/* Some readers end a line at a carriage return. */
static const char *line_end(const struct acp *a, const struct stream *s, const char *bytes,
			    size_t len)
{
	const char *newline = memchr(bytes, '\n', len);
	const char *cr =
		s == &a->agent && a->tools != ACP_TOOLS_ON ? memchr(bytes, '\r', len) : NULL;

	return cr && (!newline || cr < newline) ? cr : newline;
}

static void take(struct acp *a, struct stream *s, const char *bytes, size_t len, bool over,
		 on_line fn, struct buf *out, struct buf *back)
{
	while (len && a->speech != SPEECH_BYTES && !(s == &a->agent && a->stalled)) {
		const char *newline = line_end(a, s, bytes, len);
		size_t n = newline ? (size_t)(newline - bytes) + 1 : len;

		take_piece(a, s, bytes, n, newline != NULL, fn, out, back);
		bytes += n;
		len -= n;
	}
	if (over && s->held.len && a->speech != SPEECH_BYTES)
		take_piece(a, s, "", 0, true, fn, out, back);
	if (len && a->speech != SPEECH_BYTES)
		buf_add(&a->waiting, bytes, len);
	else
		buf_add(out, bytes, len);
}

static void on_editor_line(struct acp *a, const char *line, size_t len, struct buf *out,
			   struct buf *back)
{
	(void)back;
	editor_line(a, line, len, out);
}

static void pass_held(struct stream *s, struct buf *out)
{
	buf_add(out, s->held.data, s->held.len);
	buf_clear(&s->held);
}

/* Passes on the bytes that waited for the editor's first line. */
static void settle(struct acp *a, struct buf *to_editor, struct buf *to_agent)
{
	struct buf waiting = a->waiting;

	a->waiting = (struct buf)BUF_INIT;
	a->stalled = false;
	if (a->speech == SPEECH_BYTES) {
		pass_held(&a->editor, to_agent);
		buf_add(to_editor, waiting.data, waiting.len);
		pass_held(&a->agent, to_editor);
		a->agent.inside = a->agent.dropping = false;
	} else {
		take(a, &a->agent, waiting.data, waiting.len, false, agent_line, to_editor,
		     to_agent);
	}
	buf_done(&waiting);
}

/* Decides by the editor's first line, or by its absence. */
static void listen_to(struct acp *a, bool over)
{
	size_t n = acp_blanks(a->editor.held.data, a->editor.held.len);

	if (a->speech == SPEECH_UNKNOWN &&
	    (over || a->editor.inside || a->editor.held.len > FIRST_LINE ||
	     (n < a->editor.held.len && a->editor.held.data[n] != '{')))
		a->speech = SPEECH_BYTES;
}

void acp_from_editor(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_agent,
		     struct buf *to_editor)
{
	bool unknown = a->speech == SPEECH_UNKNOWN;

	take(a, &a->editor, bytes, len, over, on_editor_line, to_agent, NULL);
	listen_to(a, over);
	if (unknown && a->speech != SPEECH_UNKNOWN)
		settle(a, to_editor, to_agent);
}

void acp_from_agent(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_editor,
		    struct buf *to_agent)
{
	take(a, &a->agent, bytes, len, over, agent_line, to_editor, to_agent);
	if (a->stalled && (over || a->waiting.len > ACP_LINE)) {
		a->on->refused(a->data, "what an agent says to an editor that has said nothing");
		buf_clear(&a->waiting);
	}
}

void acp_answer(struct acp *a, uint64_t id, bool allow, const char *why, struct buf *to_editor,
		struct buf *to_agent)
{
	if (a->held)
		acp_tools_answer(a->held, id, allow, why, to_editor, to_agent);
}
