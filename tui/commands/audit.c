/* audit - `cordon audit`: changes, refusals and decisions of sessions. */
/* SPDX-License-Identifier: MIT */
#include "core/audit/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/os/change.h"
#include "core/os/text.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/metrics.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct audit_options {
	bool json, follow, metrics;
};

static const struct flag flags[] = {
	{"--follow", NULL, offsetof(struct audit_options, follow),
	 "print new lines as they are written"},
	{"--metrics", NULL, offsetof(struct audit_options, metrics),
	 "the number of requests, their answers, and how long these took"},
	{"--json", NULL, offsetof(struct audit_options, json),
	 "the lines of the log as they are: seq, time, session, event, step, pid, op, path, path2, "
	 "errno, status, latency_us, program, command, by, detail, prev, hash; clock_back_us if "
	 "the clock went back, path_cut and the like if a text was too long. verify: ok, lines, "
	 "dropped. --metrics: sessions, commands, changes, refused, asked, allowed, denied, "
	 "unanswered, revoked, reads, reads_by_rule, reads_by_answer, reads_crowded, "
	 "wait_median_s, wait_p99_s, wait_max_s"},
};

static const struct usage usage = {
	"audit [verify | --follow | --metrics] [--json]",
	"Print the audit log of this folder: files, hosts, decisions, and who decided. `verify` "
	"checks that no line was changed, moved or removed.",
	flags,
	ARRAY_LEN(flags),
};

/* ---- a line for people ----------------------------------------------------------------------- */

static enum style event_style(const char *event)
{
	if (str_eq(event, "deny"))
		return STYLE_RED;
	if (str_eq(event, "ask") || str_eq(event, "safeguard") || str_eq(event, "decision"))
		return STYLE_YELLOW;
	if (str_eq(event, "touch") || str_eq(event, "exec"))
		return STYLE_NONE;
	return STYLE_CYAN;
}

static void print_field(const struct audit_record *r, const char *name, const char *before,
			const char *after)
{
	AUTO_FREE char *cut = xasprintf("%s" AUDIT_CUT, name);
	size_t len;
	const char *s = audit_record_get(r, name, &len);

	if (!s || !len)
		return;
	fputs(before, stdout);
	show_text(s, len);
	if (audit_record_get(r, cut, NULL))
		fputs(" ...", stdout);
	fputs(after, stdout);
}

/* Prints "  (5 reads outside the folder: 4 by a rule, 1 asked about)" at the end of a session.
 * Returns false if the detail is another one. */
static bool print_reads(const struct audit_record *r)
{
	static const char *const words[] = {"by a rule", "by an earlier answer", "asked about",
					    "refused, as too many waited"};
	const char *detail = audit_record_get(r, "detail", NULL), *sep = ": ";
	uint64_t reads, n[ARRAY_LEN(words)];

	if (!detail || sscanf(detail, AUDIT_READS, &reads, &n[0], &n[1], &n[2], &n[3]) != 5)
		return false;
	printf("  (%" PRIu64 " read%s outside the folder", reads, reads == 1 ? "" : "s");
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!n[i])
			continue;
		printf("%s%" PRIu64 " %s", sep, n[i], words[i]);
		sep = ", ";
	}
	putchar(')');
	return true;
}

/* Prints a record; a time such as "2026-11-21T22:04:45.123456Z" without its fraction. */
static void print_record(const struct audit_record *r)
{
	const char *time = audit_record_get(r, "time", NULL);
	const char *event = audit_record_get(r, "event", NULL);
	const char *step = audit_record_get(r, "step", NULL);
	const char *op = audit_record_get(r, "op", NULL);
	const char *number = audit_record_get(r, "errno", NULL);

	printf("%.10s %.8s  %s%-13s%s  %4s  %-10s ", time ? time : "",
	       time && strlen(time) > 19 ? time + 11 : "",
	       style_on(event_style(event ? event : "")), event ? event : "?", style_off(),
	       step ? step : "", op ? op : "");
	print_field(r, "path", " ", "");
	print_field(r, "path2", " -> ", "");
	print_field(r, "command", " ", "");
	if (number)
		printf("  %s", os_error_name(atoi(number)) ? os_error_name(atoi(number)) : number);
	print_field(r, "status", "  exit ", "");
	if (!str_eq(event ? event : "", "session-end") || !print_reads(r))
		print_field(r, "detail", "  (", ")");
	print_field(r, "by", "  by ", "");
	putchar('\n');
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
	FILE *f;
	char *line;
	size_t cap;
	uint64_t number;
	struct audit_record record;
	bool json;
};

/* Prints all complete lines; a partial one is read again later. */
static int read_on(struct reader *r, struct err *err)
{
	for (;;) {
		off_t before = ftello(r->f);
		ssize_t n = getline(&r->line, &r->cap, r->f);

		if (n <= 0 || r->line[n - 1] != '\n') {
			clearerr(r->f);
			if (fseeko(r->f, before, SEEK_SET) < 0)
				return err_set(err, -errno, "read the audit log");
			return 0;
		}
		r->number++;
		if (r->json) {
			fwrite(r->line, 1, (size_t)n, stdout);
			continue;
		}
		if (audit_record_parse(&r->record, r->line, (size_t)n - 1) < 0)
			return err_say(err, -EBADMSG,
				       "line %" PRIu64 ": not a line of an audit log: "
				       "run cordon audit verify",
				       r->number);
		print_record(&r->record);
		if (ferror(stdout))
			return 0;
	}
}

static int follow(struct reader *r, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = os_change_open(path);

	if (fd < 0)
		return err_set(err, fd, "watch %s", path);
	for (;;) {
		int k = read_on(r, err);

		if (k < 0)
			return k;
		if (fflush(stdout) || ferror(stdout))
			return 0;
		k = os_change_wait(fd);
		if (k < 0)
			return err_set(err, k, "watch %s", path);
	}
}

/* Prints the file that a rotation set aside, if there is one. */
static int print_aside(struct reader *r, const char *path, struct err *err)
{
	AUTO_FREE char *aside = xasprintf("%s.1", path);
	int k;

	r->f = fopen(aside, "re");
	if (!r->f)
		return 0;
	k = read_on(r, err);
	fclose(r->f);
	r->f = NULL;
	return k;
}

/* Reports dropped lines: an agent may have written many lines to drop others. */
static void say_dropped(const char *path)
{
	uint64_t n = audit_dropped(path);

	if (n)
		printf("%" PRIu64 " older line%s made room for these\n", n, n == 1 ? "" : "s");
}

static int print_log(const char *path, const struct audit_options *o, struct err *err)
{
	struct reader r = {.json = o->json};
	int k;

	audit_record_init(&r.record);
	if (!o->json)
		say_dropped(path);
	k = print_aside(&r, path, err);
	r.f = fopen(path, "re");
	if (k < 0)
		;
	else if (r.f)
		k = o->follow ? follow(&r, path, err) : read_on(&r, err);
	else if (errno != ENOENT || o->follow)
		k = err_set(err, -errno, "read audit log %s", path);
	else if (!o->json)
		printf("Nothing has been logged for this folder yet.\n");
	audit_record_done(&r.record);
	free(r.line);
	util_close_file(&r.f);
	return k;
}

static int verify(const char *path, bool json, struct err *err)
{
	uint64_t lines = 0;
	int r = audit_verify(path, &lines, err);

	if (json)
		printf("{\"ok\":%s,\"lines\":%" PRIu64 ",\"dropped\":%" PRIu64 "}\n",
		       r == 0 ? "true" : "false", lines, audit_dropped(path));
	else if (r == 0)
		printf("%s: %" PRIu64 " line%s, none changed, moved or missing\n", path, lines,
		       lines == 1 ? "" : "s");
	if (r == 0 && !json)
		say_dropped(path);
	return r;
}

int cmd_audit(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	AUTO_FREE char *path = NULL;
	struct audit_options o = {0};
	AUTO_STRINGS struct strings args = {0};
	bool check;
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	check = args.n == 1 && str_eq(args.list[0], "verify");
	if (r == 0 && args.n && (!check || o.follow || o.metrics))
		r = err_say(err, -EINVAL, "unexpected argument '%s': usage: cordon %s",
			    args.list[args.n > 1 && str_eq(args.list[0], "verify")],
			    usage.synopsis);
	if (r == 0)
		r = here_find(&p, err);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	path = folders_audit_path(p.state_dir, p.folder);
	r = check	? verify(path, o.json, err)
	    : o.metrics ? metrics_print(path, o.json, err)
			: print_log(path, &o, err);
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
