/* pending - `cordon pending`, `approve`, `deny`: answer for a session from another terminal. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/api/api.h"
#include "core/audit/reader.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/reading.h"

#define WAIT_S 5 /* a session that does not answer for this long is stopped or stuck */

struct options {
	bool json, tree;
	const char *scope, *extent, *time;
};

static const struct flag pending_flags[] = {
	{"--json", NULL, offsetof(struct options, json),
	 "one request a line, as core/api/protocol.json says, with its session"},
};

#define SCOPES "once|step|session|project|user|org"

static const struct flag approve_flags[] = {
	{"--scope", SCOPES, offsetof(struct options, scope),
	 "how long the answer counts; once is what it is without"},
	{"--extent", "exact|dir|tree", offsetof(struct options, extent),
	 "how much it is about: exactly this, its directory, that and all below"},
	{"--tree", NULL, offsetof(struct options, tree), "the same as --extent tree"},
	{"--for", "TIME", offsetof(struct options, time),
	 "it ends by itself after 30s, 10m, 2h or 7d"},
};

static const struct usage pending_usage = {
	"pending [--json]",
	"List what running sessions are held at, with the ID that approve and deny take.",
	pending_flags,
	ARRAY_LEN(pending_flags),
};

static const struct usage approve_usage = {
	"approve ID [--scope SCOPE] [--extent exact|dir|tree] [--for TIME]",
	"Let a request go on that a session is held at, as its console would.",
	approve_flags,
	ARRAY_LEN(approve_flags),
};

static const struct usage deny_usage = {
	"deny ID [--scope SCOPE] [--extent exact|dir|tree] [--for TIME]",
	"Refuse a request that a session is held at, as its console would.",
	approve_flags,
	ARRAY_LEN(approve_flags),
};

/* ---- one session ----------------------------------------------------------------------------- */

struct link {
	int fd;
	struct buf in;
	size_t used; /* of in: the last line that was given out */
	struct audit_record record;
	char *session;
	const char *tag; /* the end of the session's name: the first part of an ID */
	uint64_t pending;
};

static void link_done(struct link *l)
{
	util_close_fd(&l->fd);
	buf_done(&l->in);
	audit_record_done(&l->record);
	free(l->session);
}

static const char *field(const struct link *l, const char *name)
{
	const char *s = audit_record_get(&l->record, name, NULL);

	return s ? s : "";
}

/* The next line, parsed into l->record; its text is *ret until the next call. */
static int link_next(struct link *l, struct span *ret, struct err *err)
{
	char *newline;

	buf_drop_front(&l->in, l->used);
	l->used = 0;
	while (!(newline = memchr(l->in.data, '\n', l->in.len))) {
		ssize_t n;

		buf_reserve(&l->in, 4096);
		n = recv(l->fd, l->in.data + l->in.len, 4096, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_say(err, n == 0 ? -EPIPE : -errno,
				       "session %s: it does not answer: %s", l->session,
				       n == 0 ? "it has just ended" : strerror(errno));
		l->in.len += (size_t)n;
	}
	*ret = (struct span){l->in.data, (size_t)(newline - l->in.data)};
	l->used = ret->len + 1;
	if (audit_record_parse(&l->record, ret->data, ret->len) < 0)
		return err_say(err, -EPROTO, "session %s: it speaks another protocol", l->session);
	return 0;
}

static int link_open(struct link *l, const char *dir, const char *name, struct err *err)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	const struct timeval wait = {.tv_sec = WAIT_S};
	AUTO_FREE char *path = NULL;
	struct span line;
	const char *tag;
	int r;

	*l = (struct link){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
			   .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
	l->session = xstrndup(name, strcspn(name, "."));
	tag = strrchr(l->session, '-');
	l->tag = tag ? tag + 1 : l->session;
	path = xasprintf("%s/%s", dir, name);
	if (strlen(path) >= sizeof(un.sun_path))
		return -ENOENT; /* no session could have made it */
	memcpy(un.sun_path, path, strlen(path));
	setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (connect(l->fd, (struct sockaddr *)&un, sizeof(un)) < 0) {
		r = -errno;
		if (r == -ECONNREFUSED) /* it was killed; nobody will remove the name */
			unlink(un.sun_path);
		return r;
	}
	r = link_next(l, &line, err);
	if (r == 0 && !str_eq(field(l, "version"), "1"))
		r = err_say(err, -EPROTO, "session %s: of another version of cordon", l->session);
	if (r == 0)
		l->pending = strtoull(field(l, "pending"), NULL, 10);
	return r;
}

/* Calls fn for every session that runs; stops at its first result that is not 0. */
static int each_session(int (*fn)(struct link *l, void *data, struct err *err), void *data,
			struct err *err)
{
	AUTO_FREE char *home = xstrdup(getenv("HOME") ? getenv("HOME") : "/");
	AUTO_FREE char *state = folders_state_dir(home);
	AUTO_FREE char *dir = api_dir(state);
	DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : err_set(err, -errno, "%s", dir);
	while (r == 0 && (e = readdir(d))) {
		struct link l;

		if (!str_ends(e->d_name, ".sock"))
			continue;
		r = link_open(&l, dir, e->d_name, err);
		if (r == 0)
			r = fn(&l, data, err);
		else if (r == -ECONNREFUSED || r == -ENOENT)
			r = 0;
		link_done(&l);
	}
	closedir(d);
	return r;
}

/* ---- pending --------------------------------------------------------------------------------- */

static void print_request(const struct link *l, struct span line, bool json)
{
	if (json) {
		printf("{\"session\":\"%s\",%.*s\n", l->session, (int)line.len - 1, line.data + 1);
		return;
	}
	printf("%s%s-%s%s  %s ", style_on(STYLE_BOLD), l->tag, field(l, "id"), style_off(),
	       field(l, "op"));
	show_text(field(l, "path"), strlen(field(l, "path")));
	printf("\n    ");
	show_text(field(l, "command"), strlen(field(l, "command")));
	printf("\n    %s", style_on(STYLE_DIM));
	show_text(field(l, "reason"), strlen(field(l, "reason")));
	printf("%s\n", style_off());
}

static int list_session(struct link *l, void *data, struct err *err)
{
	const struct options *o = data;

	for (uint64_t i = 0; i < l->pending; i++) {
		struct span line;
		int r = link_next(l, &line, err);

		if (r < 0)
			return r;
		print_request(l, line, o->json);
	}
	return 0;
}

int cmd_pending(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct strings args = {0};
	int r = reading_parse(&pending_usage, argc, argv, &o, &args, err);

	if (r == 0 && args.n)
		r = err_say(err, -EINVAL, "pending: takes no arguments: usage: cordon %s",
			    pending_usage.synopsis);
	strings_done(&args);
	if (r == 0)
		r = each_session(list_session, &o, err);
	if (r < 0)
		return CMD_FAILED;
	return finish(0, err);
}

/* ---- approve and deny ------------------------------------------------------------------------ */

struct answering {
	const struct options *o;
	int64_t until; /* unix seconds, 0: none */
	const char *verb;
	char *tag, *id; /* tag "": whichever session has it, if only one has */
	size_t found;
};

static int find_request(struct link *l, void *data, struct err *err)
{
	struct answering *a = data;
	bool has = false;
	int r = 0;

	if (*a->tag && !str_eq(a->tag, l->tag))
		return 0;
	for (uint64_t i = 0; r == 0 && i < l->pending; i++) {
		struct span line;

		r = link_next(l, &line, err);
		has = has || (r == 0 && str_eq(field(l, "id"), a->id));
	}
	a->found += has;
	return r < 0 ? r : has;
}

static int count_request(struct link *l, void *data, struct err *err)
{
	int r = find_request(l, data, err);

	return r < 0 ? r : 0;
}

/* The number of the request is part of the command: digits alone. */
static int send_answer(struct link *l, const struct answering *a, struct err *err)
{
	AUTO_BUF struct buf out = BUF_INIT;
	const char *scope = a->o->scope ? a->o->scope : "once";
	const char *extent = a->o->extent ? a->o->extent : a->o->tree ? "tree" : "exact";
	int r;

	buf_fmt(&out, "{\"type\":\"cmd.%s\",\"id\":%s,\"scope\":", a->verb, a->id);
	json_quote(&out, scope, strlen(scope));
	buf_str(&out, ",\"extent\":");
	json_quote(&out, extent, strlen(extent));
	buf_fmt(&out, ",\"until\":%" PRId64 "}\n", a->until);
	r = io_write_all(l->fd, out.data, out.len);
	return r < 0 ? err_set(err, r, "session %s", l->session) : 0;
}

static int answer_request(struct link *l, void *data, struct err *err)
{
	const struct answering *a = data;
	struct span line;
	int r = find_request(l, data, err);

	if (r <= 0)
		return r;
	r = send_answer(l, a, err);
	do {
		if (r == 0)
			r = link_next(l, &line, err);
	} while (r == 0 && !str_eq(field(l, "type"), "reply"));
	if (r < 0)
		return r;
	if (!str_eq(field(l, "ok"), "true"))
		return err_say(err, -EPERM, "%s %s: %s", a->verb, a->id, field(l, "error"));
	return 1;
}

/* "3f2a-7", or 7. */
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
	int r = split_id(a, copy, err);

	if (r == 0)
		r = each_session(count_request, a, err);
	if (r == 0 && !a->found)
		r = err_say(err, -ESRCH,
			    "%s %s: nobody waits for it: cordon pending lists what waits", a->verb,
			    given);
	if (r == 0 && a->found > 1)
		r = err_say(err, -ESRCH,
			    "%s %s: several sessions have one: give the ID as cordon pending shows "
			    "it",
			    a->verb, given);
	if (r == 0)
		r = each_session(answer_request, a, err);
	return r;
}

/* "90s", "10m", "2h", "7d"; a number alone is seconds. */
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

static int answer(const struct usage *u, const char *verb, int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct answering a = {.o = &o, .verb = verb};
	struct strings args = {0};
	int r = reading_parse(u, argc, argv, &o, &args, err);

	if (r == 0 && (args.n != 1 || !args.list)) {
		err_say(err, -EINVAL, "%s: needs one ID: cordon pending lists them", verb);
		r = -EINVAL;
	}
	if (r == 0)
		r = parse_time(&a, err);
	if (r == 0)
		r = answer_id(&a, args.list[0], err);
	strings_done(&args);
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
