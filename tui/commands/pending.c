/* pending - `cordon pending`, `approve`, `deny`: answer for a session from another terminal. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/socket/link.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/session/answers/answers.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"

struct options {
	bool json, tree, own_settings;
	bool any; /* a request was listed */
	const char *scope, *extent, *time, *up;
};

static const struct flag pending_flags[] = {
	{"--json", NULL, offsetof(struct options, json),
	 "one request a line, as core/api/protocol.json says, with its session and approve_id, the "
	 "ID that approve and deny take"},
};

#define SCOPES "once|step|session|project|user|org"

static const struct flag approve_flags[] = {
	{"--scope", SCOPES, offsetof(struct options, scope),
	 "how long the answer counts; default: once"},
	{"--extent", "exact|dir|tree|bundle", offsetof(struct options, extent),
	 "what the answer covers: exactly this path, the files of its directory, that directory "
	 "and everything below, or all files that the program keeps for itself"},
	{"--up", "N", offsetof(struct options, up), "with --extent tree: N directories further up"},
	{"--tree", NULL, offsetof(struct options, tree), "the same as --extent tree"},
	{"--for", "TIME", offsetof(struct options, time),
	 "the answer expires, after 30s, 10m, 2h or 7d; default: never"},
	{"--own-settings", NULL, offsetof(struct options, own_settings),
	 "for a request about an agent's settings: start the agent again with a copy of them for "
	 "this folder"},
};

static const struct usage pending_usage = {
	"pending [--json]",
	"List the requests that wait in your sessions, each with the ID that approve and deny "
	"take.",
	pending_flags,
	ARRAY_LEN(pending_flags),
};

static const struct usage approve_usage = {
	"approve ID [--scope SCOPE] [--extent exact|dir|tree|bundle] [--for TIME] | approve ID "
	"--own-settings",
	"Allow a request that waits, as the session's console would.",
	approve_flags,
	ARRAY_LEN(approve_flags),
};

static const struct usage deny_usage = {
	"deny ID [--scope SCOPE] [--extent exact|dir|tree|bundle] [--for TIME]",
	"Deny a request that waits, as the session's console would.", approve_flags,
	ARRAY_LEN(approve_flags) - 1, /* without --own-settings */
};

/* ---- pending --------------------------------------------------------------------------------- */

static void print_request(const struct link *l, struct span line, bool json)
{
	if (json) {
		printf("{\"session\":\"%s\",\"approve_id\":\"%s-%s\",%.*s\n", l->session, l->tag,
		       link_field(l, "id"), (int)line.len - 1, line.data + 1);
		return;
	}
	printf("%s%s-%s%s  %s ", style_on(STYLE_BOLD), l->tag, link_field(l, "id"), style_off(),
	       answers_wish(link_field(l, "op")));
	show_text(link_field(l, "path"), strlen(link_field(l, "path")));
	printf("\n    ");
	show_text(link_field(l, "command"), strlen(link_field(l, "command")));
	printf("\n    %s", style_on(STYLE_DIM));
	show_text(link_field(l, "reason"), strlen(link_field(l, "reason")));
	printf("%s\n", style_off());
	if (l->own_settings && *link_field(l, "bundle") && !str_eq(link_field(l, "bundle"), "null"))
		printf("    %scordon approve %s-%s --own-settings: %s begins anew with a copy for "
		       "this folder%s\n",
		       style_on(STYLE_DIM), l->tag, link_field(l, "id"), l->own_settings,
		       style_off());
}

static int list_session(struct link *l, void *data, struct err *err)
{
	struct options *o = data;

	for (uint64_t i = 0; i < l->pending; i++) {
		struct span line;
		int r = link_next(l, &line, err);

		if (r < 0) /* ended: it has no requests */
			return r == -EPIPE ? 0 : r;
		if (str_eq(link_field(l, "type"), "event.fs_request"))
			print_request(l, line, o->json);
		o->any = true;
	}
	return 0;
}

int cmd_pending(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	AUTO_BUF struct buf mute = BUF_INIT;
	int r = flags_parse(&pending_usage, argc, argv, &o, NULL, err);

	if (r == 0)
		r = link_each(NULL, list_session, &o, &mute, err);
	if (r == 0 && mute.len)
		r = err_say(err, -EAGAIN, "%s", mute.data);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	if (!o.any && !o.json) /* JSON output needs no message */
		fprintf(stderr, "cordon: nothing waits for an answer\n");
	return finish(0, err);
}

/* ---- approve and deny ------------------------------------------------------------------------ */

struct answering {
	const struct options *o;
	int64_t until; /* unix seconds, 0: none */
	int up;
	const char *verb;
	const char *given;
	char *tag, *id; /* tag "": the only session with this request */
	size_t found;
};

static int find_request(struct link *l, void *data, struct err *err)
{
	struct answering *a = data;
	bool has = false;
	int r = 0;

	for (uint64_t i = 0; r == 0 && i < l->pending; i++) {
		struct span line;

		r = link_next(l, &line, err);
		has = has || (r == 0 && str_eq(link_field(l, "type"), "event.fs_request") &&
			      str_eq(link_field(l, "id"), a->id));
	}
	a->found += has;
	return r < 0 ? r : has;
}

static int count_request(struct link *l, void *data, struct err *err)
{
	int r = find_request(l, data, err);

	return r < 0 ? r : 0;
}

/* Appends the answer, with the request's number as digits only. */
static void put_answer(struct buf *out, const struct answering *a)
{
	const char *scope = a->o->scope ? a->o->scope : "once";
	const char *extent = a->o->extent	      ? a->o->extent
			     : a->o->tree || a->o->up ? "tree"
						      : "exact";

	if (a->o->own_settings) {
		buf_fmt(out, "{\"type\":\"cmd.own_settings\",\"id\":%s}\n", a->id);
		return;
	}
	buf_fmt(out, "{\"type\":\"cmd.%s\",\"id\":%s", a->verb, a->id);
	json_member(out, "scope", scope);
	json_member(out, "extent", extent);
	buf_fmt(out, ",\"up\":%d,\"until\":%" PRId64 "}\n", a->up, a->until);
}

static int answer_request(struct link *l, void *data, struct err *err)
{
	const struct answering *a = data;
	AUTO_BUF struct buf out = BUF_INIT;
	int r = find_request(l, data, err);

	if (r <= 0)
		return r;
	put_answer(&out, a);
	r = link_command(l, &out, err);
	if (r == -EPERM)
		return err_wrap(err, r, "%s %s", a->verb, a->given);
	return r < 0 ? r : 1;
}

/* Splits "3f2a-7", or 7. */
static int split_id(struct answering *a, char *given, struct err *err)
{
	char *dash = strrchr(given, '-');

	a->id = dash ? dash + 1 : given;
	a->tag = dash ? given : given + strlen(given);
	if (!*a->id || strspn(a->id, "0123456789") != strlen(a->id) || strlen(a->id) > 15)
		return err_say(err, -EINVAL, "%s '%s': not an ID: cordon pending lists them",
			       a->verb, given);
	if (dash)
		*dash = '\0';
	return 0;
}

static int answer_id(struct answering *a, const char *given, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(given);
	AUTO_BUF struct buf mute = BUF_INIT;
	const char *tag = NULL;
	int r = split_id(a, copy, err);

	a->given = given;
	if (r == 0 && *a->tag)
		tag = a->tag;
	if (r == 0)
		r = link_each(tag, count_request, a, &mute, err);
	if (r == 0 && !a->found)
		r = err_say(err, -ESRCH,
			    "%s %s: nobody waits for it: cordon pending lists what waits%s%s",
			    a->verb, given, mute.len ? "; " : "", mute.data);
	if (r == 0 && a->found > 1)
		r = err_say(err, -ESRCH,
			    "%s %s: several sessions have one: give the ID as cordon pending shows "
			    "it",
			    a->verb, given);
	if (r == 0)
		r = link_each(tag, answer_request, a, &mute, err);
	return r;
}

/* Parses "90s", "10m", "2h", "7d"; a number alone is in seconds. */
static int parse_time(struct answering *a, struct err *err)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'\0', 1}};
	const char *text = a->o->time;
	char *end = NULL;
	long n;

	if (!text)
		return 0;
	n = strtol(text, &end, 10);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (*end != units[i].unit || (*end && end[1]) || n < 1 || n > 1000000)
			continue;
		a->until = clock_wall_us() / 1000000 + n * units[i].seconds;
		return 0;
	}
	return err_say(err, -EINVAL, "--for '%s': not a time: give 30s, 10m, 2h or 7d", text);
}

static int parse_up(struct answering *a, struct err *err)
{
	char *end = NULL;
	long n = a->o->up ? strtol(a->o->up, &end, 10) : 0;

	if (a->o->up && (*end || !*a->o->up || n < 0 || n > ANSWER_UP_MAX))
		return err_say(err, -EINVAL, "--up '%s': not a number of directories", a->o->up);
	a->up = (int)n;
	return 0;
}

static int answer(const struct usage *u, const char *verb, int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct answering a = {.o = &o, .verb = verb};
	AUTO_STRINGS struct strings args = {0};
	int r = flags_parse(u, argc, argv, &o, &args, err);

	if (r == 0 && (args.n != 1 || !args.list)) {
		err_say(err, -EINVAL, "%s: needs one ID: cordon pending lists them", verb);
		r = -EINVAL;
	}
	if (r == 0 && o.own_settings && (o.scope || o.extent || o.tree || o.up || o.time))
		r = err_say(err, -EINVAL, "--own-settings: takes no other options: leave them out");
	if (r == 0)
		r = parse_time(&a, err);
	if (r == 0)
		r = parse_up(&a, err);
	if (r == 0)
		r = answer_id(&a, args.list[0], err);
	if (r == -ESRCH || r == -EPERM)
		return CMD_REFUSED;
	return r < 0 ? CMD_FAILED : finish(0, err);
}

int cmd_approve(int argc, char **argv, struct err *err)
{
	return answer(&approve_usage, "approve", argc, argv, err);
}

int cmd_deny(int argc, char **argv, struct err *err)
{
	return answer(&deny_usage, "deny", argc, argv, err);
}
