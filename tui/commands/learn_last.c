/* learn_last - `cordon learn --last`: proposes rules for the last session's refusals. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/learn_last.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/base/text.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"
#include "tui/commands/refused.h"
#include "tui/commands/standing.h"

/* Most requests of one session that are read. */
#define REQUESTS_MAX 5000
#define COMMAND_MAX  60 /* bytes of the command */

struct options {
	bool last, yes;
};

static const struct flag flags[] = {
	{"--last", NULL, offsetof(struct options, last),
	 "rules for what the last session in this folder asked for and you did not deny: refused "
	 "without a question, or allowed"},
	{"--yes", NULL, offsetof(struct options, yes),
	 "append them to your settings without a question"},
};

static const struct usage usage = {
	"learn --last [--yes]",
	"Show rules that let the last session's requests through, and append them to your settings "
	"after a question.",
	flags,
	ARRAY_LEN(flags),
};

/* A record "ask" or "deny" of the audit log. */
struct request {
	char *op, *path, *detail;
	bool open, denied; /* a question without an answer; denied by the user or a rule */
};

struct session_log {
	struct request *list;
	size_t n, beyond;
	char *began, *command; /* NULL: the log has no session */
};

static void forget(struct session_log *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->list[i].op);
		free(l->list[i].path);
		free(l->list[i].detail);
	}
	free(l->list);
	free(l->began);
	free(l->command);
	*l = (struct session_log){0};
}

static void add(struct session_log *l, const struct audit_record *a, bool open, bool denied)
{
	if (l->n == REQUESTS_MAX) {
		l->beyond++;
		return;
	}
	l->list = xrealloc(l->list, (l->n + 1) * sizeof(*l->list));
	l->list[l->n++] = (struct request){.op = xstrdup(audit_record_text(a, "op")),
					   .path = xstrdup(audit_record_text(a, "path")),
					   .detail = xstrdup(audit_record_text(a, "detail")),
					   .open = open,
					   .denied = denied};
}

static bool is_read(const char *op)
{
	return str_eq(op, "read") || str_eq(op, "list") || str_eq(op, "exec") ||
	       str_eq(op, "execve");
}

/* Closes the answered question: denied by the user, it is no longer a request; after a time-out it
 * still is. */
static void decide(struct session_log *l, const struct audit_record *a)
{
	const bool no = audit_record_get(a, "errno", NULL) != NULL;

	for (size_t i = l->n; i > 0; i--) {
		struct request *q = &l->list[i - 1];

		if (!q->open || !str_eq(q->op, audit_record_text(a, "op")) ||
		    !str_eq(q->path, audit_record_text(a, "path")))
			continue;
		q->open = false;
		q->denied = no && !str_eq(audit_record_text(a, "by"), "time-out");
		return;
	}
}

/* Takes a record. An undo is a session of the backend "none", and is skipped. */
static void take(struct session_log *l, const struct audit_record *a)
{
	const char *event = audit_record_text(a, "event");

	if (str_eq(event, "session-start") && !str_eq(audit_record_text(a, "op"), "none")) {
		forget(l);
		l->began = xstrdup(audit_record_text(a, "time"));
		l->command = xstrdup(audit_record_text(a, "command"));
	} else if (!l->began || audit_record_get(a, "path_cut", NULL)) {
		return;
	} else if (str_eq(event, "ask")) {
		add(l, a, true, false);
	} else if (str_eq(event, "decision")) {
		decide(l, a);
	} else if (str_eq(event, "deny")) {
		bool unasked = str_starts(audit_record_text(a, "by"), "nobody") ||
			       (is_read(audit_record_text(a, "op")) &&
				str_eq(audit_record_text(a, "detail"), policy_ungranted));

		add(l, a, false, !unasked);
	}
}

static int read_log(struct session_log *l, const char *path, struct err *err)
{
	AUTO_FILE FILE *f = fopen(path, "re");
	struct audit_record record;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f && errno != ENOENT)
		return err_set(err, -errno, "open '%s'", path);
	audit_record_init(&record);
	while (f && (n = getline(&line, &cap, f)) > 0)
		if (audit_record_parse(&record, line, (size_t)n - (line[n - 1] == '\n')) == 0)
			take(l, &record);
	audit_record_done(&record);
	free(line);
	return l->began ? 0 : err_say(err, -ENOENT, "no session has run in this folder");
}

/* Returns whether a rule may be proposed: secrets, sockets of the host, and files that the host
 * runs or obeys must be named by the user. */
static bool is_proposed(const struct request *q, const struct policy *policy)
{
	bool ungranted = str_eq(q->detail, policy_ungranted);

	if (q->denied || !*q->path)
		return false;
	if (is_read(q->op))
		return ungranted;
	if (*q->path == '/')
		return !str_eq(q->op, "connect") && !policy_guards(policy, q->path, 0);
	return str_eq(q->op, "connect") || str_eq(q->op, "credentials") || str_eq(q->op, "sign");
}

static void propose(struct refused *r, const struct request *q)
{
	static char read_op[] = "read", exec_op[] = "exec";
	struct row row = {
		.kind = ROW_DENY,
		.result = str_eq(q->detail, policy_ungranted) ? -EROFS : -EACCES,
		.unasked = !is_read(q->op),
		.op = q->op,
		.text = q->path,
		.more = q->detail,
	};

	if (is_read(q->op))
		row.op = str_starts(q->op, "exec") ? exec_op : read_op;
	refused_add(r, &row);
}

static void show_left_out(size_t n)
{
	if (n)
		printf("; %zu other request%s: denied by you or a rule, secret, or protected: see "
		       "cordon audit\n",
		       n, n == 1 ? "" : "s");
}

/* Shows the rules. Returns whether there are any. */
static bool show(const struct session_log *l, const struct here *at, const struct policy *policy,
		 struct buf *rules)
{
	const char *folders[] = {at->folder, NULL};
	struct refused r = {.home = at->home, .folders = folders, .whole = true};
	AUTO_BUF struct buf command = BUF_INIT;
	const char *words = l->command;
	size_t left_out = l->beyond;
	bool any;

	for (size_t i = 0; i < l->n; i++)
		if (is_proposed(&l->list[i], policy))
			propose(&r, &l->list[i]);
		else
			left_out++;
	any = refused_rules(&r, rules);
	left_out += r.beyond;
	refused_done(&r);
	if (words)
		text_escape(&command, words, strnlen(words, COMMAND_MAX));
	printf("; %s%s at %s %s\n", command.data, words && strlen(words) > COMMAND_MAX ? "..." : "",
	       l->began, any ? "asked for:" : "asked for nothing that a rule would allow.");
	if (any)
		printf("[rule]\n%s", rules->data);
	show_left_out(left_out);
	return any;
}

static int save(const struct here *at, const struct buf *rules, struct err *err)
{
	const struct rules_place where = {.home = at->home,
					  .config_home = getenv("XDG_CONFIG_HOME")};
	AUTO_FREE char *file = NULL;
	int r = rules_save_lines(&where, rules, &file, err);

	if (r < 0)
		return r;
	fflush(stdout);
	fputs("cordon: appended to ", stderr);
	show_on(stderr, file, strlen(file));
	fputs("\n", stderr);
	return 0;
}

static int propose_last(const struct here *at, bool yes, struct err *err)
{
	AUTO_FREE char *log = folders_audit_path(at->state_dir, at->folder);
	AUTO_BUF struct buf rules = BUF_INIT;
	struct session_log l = {0};
	AUTO_STANDING struct standing s = {0};
	int r = standing_load(&s, at, &(struct standing_run){0}, err);
	bool any;

	if (r == 0)
		r = read_log(&l, log, err);
	any = r == 0 && show(&l, at, s.policy, &rules);
	forget(&l);
	if (!any)
		return r;
	if (!yes && !isatty(STDIN_FILENO)) {
		fflush(stdout);
		fputs("cordon: --yes appends this to your settings\n", stderr);
		return 0;
	}
	r = yes ? 0 : confirm_yes("Append this to your settings?", err);
	return r == 0 ? save(at, &rules, err) : r;
}

bool learn_last_is_meant(int argc, char **argv)
{
	for (int i = 0; i < argc && argv[i][0] == '-' && !str_eq(argv[i], "--"); i++)
		if (str_eq(argv[i], "--last"))
			return true;
	return false;
}

int learn_last(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct options o = {0};
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r == 0)
		r = here_find(&p, err);
	if (r == 0)
		r = propose_last(&p, o.yes, err);
	return r < 0 ? CMD_FAILED : finish(0, err);
}
