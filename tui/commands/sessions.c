/* sessions - `cordon sessions`: lists running sessions, and the questions that wait in each. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/socket/roster.h"
#include "core/base/json.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"

struct options {
	bool json, all;
};

static const struct flag flags[] = {
	{"--all", NULL, offsetof(struct options, all),
	 "also sessions that ended within the last day"},
	{"--json", NULL, offsetof(struct options, json),
	 "one object a line: session, id, state (asks, working, idle, hung, ended), folder, "
	 "branch, "
	 "command, agent, prompt, pid, since_us, until_us, pending, asked (null, or approve_id, "
	 "op, "
	 "path, program, command, reason), added, deleted (lines; null: not known)"},
};

static const struct usage usage = {
	"sessions [--all] [--json]",
	"List your running sessions, with the ID that cordon attach takes.",
	flags,
	ARRAY_LEN(flags),
};

static void add_asked(struct buf *out, const struct roster_row *row)
{
	const struct roster_ask *a = &row->ask;

	buf_str(out, ",\"asked\":");
	if (!a->id) {
		buf_str(out, "null");
		return;
	}
	buf_fmt(out, "{\"approve_id\":\"%s-%" PRIu64 "\"", row->tag, a->id);
	json_member(out, "op", a->op);
	json_member(out, "path", a->path);
	json_member(out, "program", a->program);
	json_member(out, "command", a->command);
	json_member(out, "reason", a->reason);
	buf_ch(out, '}');
}

static void print_json(const struct roster_row *row)
{
	AUTO_BUF struct buf out = BUF_INIT;

	buf_fmt(&out, "{\"session\":\"%s\",\"id\":\"%s\",\"state\":\"%s\"", row->session, row->tag,
		row->state);
	json_member(&out, "folder", row->folder);
	json_member(&out, "branch", row->branch);
	json_member(&out, "command", row->command);
	json_member(&out, "agent", row->agent);
	json_member(&out, "prompt", row->prompt);
	buf_fmt(&out,
		",\"pid\":%d,\"since_us\":%" PRId64 ",\"until_us\":%" PRId64
		",\"pending\":%" PRIu64,
		row->pid, row->since_us, row->until_us, row->pending);
	add_asked(&out, row);
	if (row->counted)
		buf_fmt(&out, ",\"added\":%" PRIu64 ",\"deleted\":%" PRIu64 "}", row->added,
			row->deleted);
	else
		buf_str(&out, ",\"added\":null,\"deleted\":null}");
	puts(out.data);
}

static void print_row(const struct roster_row *row)
{
	char when[32] = "?";

	if (row->since_us)
		show_time(when, sizeof(when), row->since_us);
	printf("%s%-6s%s  %-12s  %-7s  %s%-7" PRIu64 "%s  ", style_on(STYLE_BOLD), row->tag,
	       style_off(), when, row->state, row->pending ? style_on(STYLE_YELLOW) : "",
	       row->pending, row->pending ? style_off() : "");
	if (row->counted)
		printf("+%-4" PRIu64 " -%-4" PRIu64 "  ", row->added, row->deleted);
	else
		printf("%12s", "");
	show_folder(row->folder);
	if (*row->branch)
		printf(" (%s)", row->branch);
	printf(": ");
	show_text(row->command, strlen(row->command));
	if (row->why)
		printf("%s%s", *row->command ? ": " : "", row->why);
	putchar('\n');
}

static void print(const struct options *o, struct roster *r)
{
	if (r->n && !o->json)
		printf("%s%-6s  %-12s  %-7s  %-7s  %-10s  FOLDER: COMMAND%s\n", style_on(STYLE_DIM),
		       "ID", "SINCE", "STATE", "WAITING", "LINES", style_off());
	for (size_t i = 0; i < r->n; i++) {
		roster_count(&r->rows[i]);
		if (o->json)
			print_json(&r->rows[i]);
		else
			print_row(&r->rows[i]);
	}
	if (!r->n && !o->json)
		puts("No session runs. Start one with cordon run.");
}

int cmd_sessions(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct roster roster = {0};
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r > 0) /* --help was printed */
		return 0;
	if (r == 0)
		r = roster_read(&roster, o.all, err);
	if (r == 0)
		print(&o, &roster);
	roster_done(&roster);
	return r < 0 ? CMD_FAILED : finish(0, err);
}
