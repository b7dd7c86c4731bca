/* message - the objects of the session's protocol, to and from lines of JSON. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/api/api_priv.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/policy/rules.h"
#include "core/session/answers.h"

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

static const char *truth(bool b)
{
	return b ? "true" : "false";
}

void message_hello(struct buf *out, const struct model *m)
{
	buf_fmt(out, "{\"type\":\"hello\",\"version\":%d,\"pid\":%d", API_VERSION, (int)getpid());
	member(out, "session", m->session);
	member(out, "folder", m->folder);
	member(out, "command", m->command);
	member(out, "backend", m->backend);
	buf_fmt(out, ",\"network\":%s,\"asks_network\":%s,\"undo_home\":%s", truth(m->network),
		truth(m->asks_network), truth(m->undo_home));
	buf_fmt(out, ",\"since_us\":%" PRId64, clock_wall_us() - (clock_mono_us() - m->began_us));
	member(out, "own_settings", m->own_offer);
	buf_fmt(out, ",\"pending\":%zu", m->n_asks);
	end(out);
}

/* What an answer to it is about, for who sees this line alone. */
static void held_members(struct buf *out, const struct guard_report *h)
{
	const char *back = h->partial ? "takes back what was kept of it" : "takes all of it back";
	AUTO_FREE char *words =
		h->what == LOSS_BEYOND
			? xasprintf("%s: %" PRIu64
				    " bytes that undo cannot keep; the whole step is "
				    "held: once raises its limit and keeps them, session goes on "
				    "without undo, a denial %s",
				    guard_setting(h->what), h->count, back)
			: xasprintf("%s: %" PRIu64 " done; the whole step is held, and a denial %s",
				    guard_setting(h->what), h->count, back);

	buf_fmt(out,
		",\"held\":%d,\"held_count\":%" PRIu64 ",\"held_calls\":%" PRIu64
		",\"held_by_line\":%s",
		(int)h->what, h->count, h->held, truth(h->by_line));
	member(out, "reason", words);
}

void message_request_members(struct buf *out, const struct ask *a)
{
	buf_fmt(out, "\"id\":%" PRIu64 ",\"step\":%" PRId64 ",\"pid\":%d", a->id, a->step, a->pid);
	member(out, "kind", rule_kind_words[a->kind]);
	member(out, "op", a->op);
	member(out, "path", a->path);
	member(out, "via", a->via && *a->via ? a->via : NULL);
	buf_fmt(out, ",\"directory\":%s,\"has_step\":%s,\"secret\":%s", truth(a->is_dir),
		truth(a->has_step), truth(a->secret));
	buf_fmt(out, ",\"no_dir\":%s,\"no_tree\":%s", truth(a->no_dir), truth(a->no_tree));
	if (a->held)
		held_members(out, a->held);
	else
		member(out, "reason", a->reason);
	buf_fmt(out, ",\"waited_us\":%" PRId64 ",\"timeout_s\":%u", clock_mono_us() - a->since_us,
		a->timeout_s);
	buf_fmt(out, ",\"up\":%u", a->up);
	member(out, "bundle", a->bundle && *a->bundle ? a->bundle : NULL);
	member(out, "bundle_places", a->bundle && *a->bundle ? a->places : NULL);
	member(out, "step_command", a->label && *a->label ? a->label : NULL);
	member(out, "program", a->program);
	member(out, "command", a->command);
}

void message_request(struct buf *out, const struct ask *a)
{
	buf_str(out, "{\"type\":\"event.fs_request\",");
	message_request_members(out, a);
	end(out);
}

void message_gone(struct buf *out, uint64_t id)
{
	buf_fmt(out, "{\"type\":\"event.fs_gone\",\"id\":%" PRIu64, id);
	end(out);
}

void message_step(struct buf *out, const struct step_row *s)
{
	buf_fmt(out,
		"{\"type\":\"event.step\",\"step\":%" PRId64
		",\"kind\":%d,\"running\":%s,\"undone\":%s,\"incomplete\":%s",
		s->id, (int)s->kind, truth(s->running), truth(s->undone), truth(s->incomplete));
	buf_fmt(out,
		",\"began_us\":%" PRId64 ",\"ended_us\":%" PRId64 ",\"status\":%d,\"paths\":%zu",
		s->began_us, s->ended_us, s->exit_status, s->paths);
	buf_fmt(out, ",\"created\":%zu,\"modified\":%zu,\"deleted\":%zu,\"renamed\":%zu",
		s->created, s->modified, s->deleted, s->renamed);
	buf_fmt(out, ",\"earlier\":%s,\"elsewhere\":%s,\"over\":%s,\"gone\":%s", truth(s->earlier),
		truth(s->elsewhere), truth(s->over), truth(s->gone));
	member(out, "command", s->command);
	end(out);
}

void message_step_gone(struct buf *out, int64_t step)
{
	buf_fmt(out, "{\"type\":\"event.step_gone\",\"step\":%" PRId64, step);
	end(out);
}

void message_turn(struct buf *out, const struct turn_mark *t)
{
	buf_fmt(out,
		"{\"type\":\"event.turn\",\"after\":%" PRId64 ",\"time_us\":%" PRId64
		",\"begins_session\":%s",
		t->after, t->us, truth(t->session));
	member(out, "agent", t->agent);
	member(out, "words", t->words);
	end(out);
}

void message_edits(struct buf *out)
{
	buf_str(out, "{\"type\":\"event.edits\"");
	end(out);
}

void message_edit(struct buf *out, const struct barrier *b)
{
	buf_fmt(out,
		"{\"type\":\"event.edit\",\"first_us\":%" PRId64 ",\"last_us\":%" PRId64
		",\"count\":%zu,\"after\":%" PRId64,
		b->first_us, b->last_us, b->count, b->after);
	end(out);
}

void message_edit_path(struct buf *out, const char *path)
{
	buf_str(out, "{\"type\":\"event.edit_path\"");
	member(out, "path", path);
	end(out);
}

void message_exited(struct buf *out, int wait_status)
{
	buf_fmt(out, "{\"type\":\"event.exited\",\"wait_status\":%d", wait_status);
	end(out);
}

void message_rule(struct buf *out, const struct given *g)
{
	buf_fmt(out, "{\"type\":\"event.rule\",\"rule\":\"%" PRIu64 "\",\"over\":%s", g->rule,
		truth(g->over));
	buf_fmt(out, ",\"allow\":%s,\"until\":%" PRId64 ",\"time_us\":%" PRId64,
		truth(g->answer.allow), g->answer.until, g->wall_us);
	member(out, "kind", rule_kind_words[g->kind]);
	member(out, "scope", answers_scope_name(g->answer.scope));
	member(out, "extent", answers_extent_name(g->answer.extent));
	member(out, "path", g->object);
	member(out, "words", g->words);
	member(out, "left", g->left);
	end(out);
}

void message_row_members(struct buf *out, const struct row *row)
{
	static const char *const row_kinds[] = {
		[ROW_TOUCH] = "touch",	 [ROW_DENY] = "deny",	      [ROW_EXEC] = "exec",
		[ROW_ASK] = "ask",	 [ROW_DECISION] = "decision", [ROW_NOTE] = "note",
		[ROW_EXTERNAL] = "edit",
	};

	buf_fmt(out,
		"\"seq\":%" PRIu64 ",\"kind\":\"%s\",\"time_us\":%" PRId64 ",\"step\":%" PRId64
		",\"pid\":%d,\"result\":%d",
		row->seq, row_kinds[row->kind], row->wall_us, row->step, row->pid, row->result);
	if (row->ask)
		buf_fmt(out, ",\"id\":%" PRIu64 ",\"decision\":\"%s\",\"scope\":\"%s\"", row->ask,
			row->result < 0 ? "deny" : "allow", answers_scope_name(row->scope));
	member(out, "op", row->op);
	member(out, "text", row->text);
	member(out, "more", row->more);
}

void message_row(struct buf *out, const struct row *row, uint16_t port)
{
	buf_str(out, "{\"type\":\"event.audit\",");
	message_row_members(out, row);
	if (port)
		buf_fmt(out, ",\"port\":%u", port);
	end(out);
}

void message_connection(struct buf *out, const struct connection *c)
{
	int64_t shift = clock_wall_us() - clock_mono_us();

	buf_fmt(out,
		"{\"type\":\"event.connection\",\"connection\":\"%" PRIu64 "\",\"step\":%" PRId64
		",\"pid\":%d",
		c->id, c->step, c->pid);
	buf_fmt(out, ",\"began_us\":%" PRId64 ",\"ended_us\":%" PRId64, c->began_us + shift,
		c->ended_us ? c->ended_us + shift : 0);
	buf_fmt(out, ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64, c->sent, c->received);
	member(out, "target", c->target);
	member(out, "addr", c->addr);
	member(out, "why", c->why);
	member(out, "program", c->program);
	end(out);
}

void message_connection_gone(struct buf *out, uint64_t id)
{
	buf_fmt(out, "{\"type\":\"event.connection_gone\",\"connection\":\"%" PRIu64 "\"", id);
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

/* A number of 64 bits, which as a number not all readers of JSON keep. */
static int parse_number(const cJSON *object, const char *name, uint64_t *ret, struct err *err)
{
	const char *text = text_of(object, name, "");
	char *end_of = NULL;

	errno = 0;
	*ret = strtoull(text, &end_of, 10);
	if (*text < '0' || *text > '9' || *end_of || errno)
		return err_say(err, -EINVAL, "%s: not the number of a %s, as a string", name, name);
	return 0;
}

static int parse_port(const cJSON *object, uint64_t *ret, struct err *err)
{
	const cJSON *port = cJSON_GetObjectItemCaseSensitive(object, "port");

	if (!cJSON_IsNumber(port) || port->valuedouble < 1 || port->valuedouble > UINT16_MAX ||
	    port->valuedouble != (double)port->valueint)
		return err_say(err, -EINVAL, "port: not the number of a port");
	*ret = (uint64_t)port->valueint;
	return 0;
}

/* But for cmd.deny. */
static const char *const commands[] = {[COMMAND_ANSWER] = "cmd.approve",
				       [COMMAND_HISTORY] = "cmd.history",
				       [COMMAND_REVOKE] = "cmd.revoke",
				       [COMMAND_DISCONNECT] = "cmd.disconnect",
				       [COMMAND_FORBID] = "cmd.forbid",
				       [COMMAND_PUBLISH] = "cmd.publish",
				       [COMMAND_OWN_SETTINGS] = "cmd.own_settings"};

static int parse_command(const cJSON *object, struct command_in *ret, struct err *err)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(object, "id");
	const char *type = text_of(object, "type", "");

	while (ret->does < ARRAY_LEN(commands) && !str_eq(type, commands[ret->does]))
		ret->does++;
	switch (ret->does) {
	case COMMAND_HISTORY:
		return 0;
	case COMMAND_REVOKE:
		return parse_number(object, "rule", &ret->id, err);
	case COMMAND_DISCONNECT:
	case COMMAND_FORBID:
		return parse_number(object, "connection", &ret->id, err);
	case COMMAND_PUBLISH:
		return parse_port(object, &ret->id, err);
	case COMMAND_OWN_SETTINGS:
		break;
	case COMMAND_ANSWER:
	default: /* cmd.deny, or nothing that is known */
		ret->does = COMMAND_ANSWER;
		break;
	}
	if (!cJSON_IsNumber(id) || id->valuedouble < 1 || id->valuedouble > 1e15)
		return err_say(err, -EINVAL, "id: not the number of a request");
	ret->id = (uint64_t)id->valuedouble;
	if (ret->does == COMMAND_OWN_SETTINGS)
		return 0;
	ret->answer.allow = str_eq(type, "cmd.approve");
	if (!ret->answer.allow && !str_eq(type, "cmd.deny"))
		return err_say(err, -EINVAL,
			       "type: not cmd.approve, cmd.deny, cmd.revoke, cmd.history, "
			       "cmd.disconnect, cmd.forbid, cmd.publish or cmd.own_settings");
	/* What makes no sense for the request itself is session_answer()'s to refuse. */
	return answers_from_json(object, &ret->answer, err);
}

int message_parse(const char *line, size_t len, struct command_in *ret, struct err *err)
{
	const char *rest = line;
	cJSON *object = cJSON_ParseWithLengthOpts(line, len, &rest, false);
	int r;

	*ret = (struct command_in){0};
	if (!cJSON_IsObject(object) || strspn(rest, " \t\r") < (size_t)(line + len - rest))
		r = err_say(err, -EINVAL, "not a JSON object");
	else
		r = parse_command(object, ret, err);
	cJSON_Delete(object);
	return r;
}
