/* message - the objects of the session's protocol, to and from lines of JSON. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/api/api_priv.h"
#include "core/base/json.h"
#include "core/keeper/wire.h"

/* ---- out ------------------------------------------------------------------------------------- */

static void member(struct buf *out, const char *name, const char *value)
{
	buf_fmt(out, ",\"%s\":", name);
	if (value)
		json_quote(out, value, strlen(value));
	else
		buf_str(out, "null");
}

static void end(struct buf *out)
{
	buf_str(out, "}\n");
}

void message_hello(struct buf *out, const struct model *m)
{
	buf_fmt(out, "{\"type\":\"hello\",\"version\":%d,\"pid\":%d", API_VERSION, (int)getpid());
	member(out, "session", m->session);
	member(out, "folder", m->folder);
	member(out, "command", m->command);
	buf_fmt(out, ",\"pending\":%zu", m->n_asks);
	end(out);
}

void message_request(struct buf *out, const struct ask *a)
{
	buf_fmt(out,
		"{\"type\":\"event.fs_request\",\"id\":%" PRIu64 ",\"step\":%" PRId64 ",\"pid\":%d",
		a->id, a->step, a->pid);
	member(out, "op", a->op);
	member(out, "path", a->path);
	member(out, "program", a->program);
	member(out, "command", a->command);
	member(out, "reason", a->reason);
	end(out);
}

void message_gone(struct buf *out, uint64_t id)
{
	buf_fmt(out, "{\"type\":\"event.fs_gone\",\"id\":%" PRIu64, id);
	end(out);
}

void message_row(struct buf *out, const struct row *row)
{
	static const char *const kinds[] = {
		[ROW_TOUCH] = "touch",	 [ROW_DENY] = "deny",	      [ROW_EXEC] = "exec",
		[ROW_ASK] = "ask",	 [ROW_DECISION] = "decision", [ROW_NOTE] = "note",
		[ROW_EXTERNAL] = "edit",
	};

	buf_fmt(out,
		"{\"type\":\"event.audit\",\"seq\":%" PRIu64 ",\"kind\":\"%s\",\"time_us\":%" PRId64
		",\"step\":%" PRId64 ",\"pid\":%d,\"result\":%d",
		row->seq, kinds[row->kind], row->wall_us, row->step, row->pid, row->result);
	member(out, "op", row->op);
	member(out, "text", row->text);
	member(out, "more", row->more);
	end(out);
}

void message_reply(struct buf *out, uint64_t id, const char *error)
{
	buf_fmt(out, "{\"type\":\"reply\",\"id\":%" PRIu64 ",\"ok\":%s", id,
		error ? "false" : "true");
	member(out, "error", error);
	end(out);
}

/* ---- in -------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *name, const char *otherwise)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!item)
		return otherwise;
	return cJSON_IsString(item) ? item->valuestring : "";
}

/* What the console offers for a request is what there is here: once, or for the session. */
static int find_answer(const char *type, const char *scope, const char *extent, struct err *err)
{
	static const struct {
		const char *type, *scope, *extent;
		enum wire_answer answer;
	} known[] = {
		{"cmd.approve", "once", "exact", ANSWER_ONCE},
		{"cmd.approve", "session", "exact", ANSWER_SESSION},
		{"cmd.approve", "session", "tree", ANSWER_SESSION_TREE},
		{"cmd.deny", "once", "exact", ANSWER_DENY},
		{"cmd.deny", "session", "exact", ANSWER_DENY_SESSION},
	};

	if (!str_eq(type, "cmd.approve") && !str_eq(type, "cmd.deny"))
		return err_say(err, -EINVAL, "type: not cmd.approve or cmd.deny");
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(type, known[i].type) && str_eq(scope, known[i].scope) &&
		    str_eq(extent, known[i].extent))
			return known[i].answer;
	return err_say(err, -EINVAL,
		       "scope: this request can be answered once or session, a tree for the "
		       "session");
}

int message_parse(const char *line, size_t len, struct command_in *ret, struct err *err)
{
	const char *rest = line;
	cJSON *object = cJSON_ParseWithLengthOpts(line, len, &rest, false);
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(object, "id");
	int r;

	ret->id = 0;
	if (!cJSON_IsObject(object) || strspn(rest, " \t\r") < (size_t)(line + len - rest)) {
		r = err_say(err, -EINVAL, "not a JSON object");
	} else if (!cJSON_IsNumber(id) || id->valuedouble < 1 || id->valuedouble > 1e15) {
		r = err_say(err, -EINVAL, "id: not the number of a request");
	} else {
		ret->id = (uint64_t)id->valuedouble;
		r = find_answer(text_of(object, "type", ""), text_of(object, "scope", "once"),
				text_of(object, "extent", "exact"), err);
	}
	cJSON_Delete(object);
	if (r < 0)
		return r;
	ret->answer = r;
	return 0;
}
