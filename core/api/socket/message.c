/* message - the objects of the session's protocol, to and from lines of JSON. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/api/socket/api_priv.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/net/host.h"
#include "core/policy/rules/rules.h"
#include "core/session/answers/answers.h"

/* ---- out ------------------------------------------------------------------------------------- */

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
	json_member(out, "session", m->session);
	json_member(out, "folder", m->folder);
	json_member(out, "command", m->command);
	json_member(out, "backend", m->backend);
	buf_fmt(out, ",\"network\":%s,\"asks_network\":%s,\"undo_home\":%s", truth(m->network),
		truth(m->asks_network), truth(m->undo_home));
	buf_fmt(out, ",\"since_us\":%" PRId64, clock_wall_us() - (clock_mono_us() - m->began_us));
	json_member(out, "own_settings", m->own_offer);
	json_member(out, "state", model_state(m));
	json_member(out, "prompt", m->prompt && *m->prompt ? m->prompt : NULL);
	buf_fmt(out, ",\"pending\":%zu", m->n_asks);
	end(out);
}

/* Adds a reason that says what an answer is about, for a reader who sees only this line. */
static void held_members(struct buf *out, const struct guard_report *h)
{
	const char *back =
		h->partial ? "takes back the part that was kept" : "takes all of it back";
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
	json_member(out, "reason", words);
}

void message_request_members(struct buf *out, const struct ask *a)
{
	buf_fmt(out, "\"id\":%" PRIu64 ",\"step\":%" PRId64 ",\"pid\":%d", a->id, a->step, a->pid);
	json_member(out, "kind", rule_kind_words[a->kind]);
	json_member(out, "op", a->op);
	json_member(out, "path", a->path);
	json_member(out, "via", a->via && *a->via ? a->via : NULL);
	buf_fmt(out, ",\"directory\":%s,\"has_step\":%s,\"secret\":%s", truth(a->is_dir),
		truth(a->has_step), truth(a->secret));
	buf_fmt(out, ",\"no_dir\":%s,\"no_tree\":%s", truth(a->no_dir), truth(a->no_tree));
	if (a->held)
		held_members(out, a->held);
	else
		json_member(out, "reason", a->reason);
	buf_fmt(out, ",\"waited_us\":%" PRId64 ",\"timeout_s\":%u", clock_mono_us() - a->since_us,
		a->timeout_s);
	if (a->call_only)
		buf_str(out, ",\"call_only\":true");
	buf_fmt(out, ",\"up\":%u", a->up);
	json_member(out, "bundle", a->bundle && *a->bundle ? a->bundle : NULL);
	json_member(out, "bundle_places", a->bundle && *a->bundle ? a->places : NULL);
	json_member(out, "step_command", a->label && *a->label ? a->label : NULL);
	json_member(out, "program", a->program);
	json_member(out, "command", a->command);
}

void message_request(struct buf *out, const struct ask *a)
{
	buf_str(out, "{\"type\":\"event.fs_request\",");
	message_request_members(out, a);
	end(out);
}

/* Appends a connection. A name has no address yet: addr is the one that it had before, or empty. */
bool message_connection_members(struct buf *out, const struct ask *a)
{
	struct net_target target, other;
	char addr[NET_ADDR_TEXT] = "";
	const char *host = NULL, *shown = addr;

	if ((a->kind != RULE_CONNECT && a->kind != RULE_BIND) || a->held ||
	    !net_target_parse(&target, a->path, NULL))
		return false;
	if (target.host.is_addr) {
		net_addr_format(&target.host.addr, addr);
		if (a->via && *a->via && net_target_parse(&other, a->via, NULL) &&
		    !other.host.is_addr)
			host = other.host.name;
	} else {
		host = target.host.name;
		shown = a->via ? a->via : addr;
	}
	buf_fmt(out, "\"id\":%" PRIu64 ",\"pid\":%d,\"port\":%u,\"is_loopback\":%s", a->id, a->pid,
		target.port,
		truth(target.host.is_addr && net_addr_class(&target.host.addr) == NET_LOOPBACK));
	json_member(out, "op", a->kind == RULE_BIND ? "bind" : target.port ? "connect" : "resolve");
	json_member(out, "addr", shown);
	if (host)
		json_member(out, "host", host);
	if (a->program)
		json_member(out, "exe", a->program);
	return true;
}

void message_connection(struct buf *out, const struct ask *a)
{
	AUTO_BUF struct buf members = BUF_INIT;

	if (!message_connection_members(&members, a))
		return;
	buf_fmt(out, "{\"type\":\"event.net_request\",%s", members.data);
	end(out);
}

void message_gone(struct buf *out, uint64_t id)
{
	buf_fmt(out, "{\"type\":\"event.fs_gone\",\"id\":%" PRIu64, id);
	end(out);
}

void message_rule(struct buf *out, const struct given *g)
{
	buf_fmt(out, "{\"type\":\"event.rule\",\"rule\":\"%" PRIu64 "\",\"over\":%s", g->rule,
		truth(g->over));
	buf_fmt(out, ",\"allow\":%s,\"until\":%" PRId64 ",\"time_us\":%" PRId64,
		truth(g->answer.allow), g->answer.until, g->wall_us);
	json_member(out, "kind", rule_kind_words[g->kind]);
	json_member(out, "scope", answers_scope_name(g->answer.scope));
	json_member(out, "extent", answers_extent_name(g->answer.extent));
	json_member(out, "path", g->object);
	json_member(out, "words", g->words);
	json_member(out, "left", g->left);
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
	json_member(out, "op", row->op);
	json_member(out, "text", row->text);
	json_member(out, "more", row->more);
}

void message_row(struct buf *out, const struct row *row)
{
	buf_str(out, "{\"type\":\"event.audit\",");
	message_row_members(out, row);
	end(out);
}

void message_reply(struct buf *out, uint64_t id, const char *error)
{
	buf_fmt(out, "{\"type\":\"reply\",\"id\":%" PRIu64 ",\"ok\":%s", id,
		error ? "false" : "true");
	json_member(out, "error", error);
	end(out);
}

/* ---- in -------------------------------------------------------------------------------------- */

/* Reads a 64-bit number as a string: some JSON readers cannot hold it as a number. */
static int parse_number(const cJSON *object, const char *name, uint64_t *ret, struct err *err)
{
	const char *text = json_text_or(object, name, "");
	char *end_of = NULL;

	errno = 0;
	*ret = strtoull(text, &end_of, 10);
	if (*text < '0' || *text > '9' || *end_of || errno)
		return err_say(err, -EINVAL, "%s: not the number of a %s, as a string", name, name);
	return 0;
}

/* The names of all commands but cmd.deny. */
static const char *const commands[] = {[COMMAND_ANSWER] = "cmd.approve",
				       [COMMAND_REVOKE] = "cmd.revoke",
				       [COMMAND_OWN_SETTINGS] = "cmd.own_settings",
				       [COMMAND_CONSOLE] = "cmd.console",
				       [COMMAND_EXEC] = "cmd.exec",
				       [COMMAND_END] = "cmd.end"};

static int parse_command(const cJSON *object, struct command_in *ret, struct err *err)
{
	const cJSON *id = json_get(object, "id");
	const char *type = json_text_or(object, "type", "");

	while (ret->does < ARRAY_LEN(commands) && !str_eq(type, commands[ret->does]))
		ret->does++;
	switch (ret->does) {
	case COMMAND_CONSOLE:
	case COMMAND_EXEC:
	case COMMAND_END:
		return 0;
	case COMMAND_REVOKE:
		return parse_number(object, "rule", &ret->id, err);
	case COMMAND_OWN_SETTINGS:
		break;
	case COMMAND_ANSWER:
	default: /* cmd.deny, or an unknown command */
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
			       "type: not cmd.approve, cmd.deny, cmd.revoke, "
			       "cmd.own_settings, cmd.console, cmd.exec or cmd.end");
	/* session_answer() refuses answers that do not fit the request. */
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
