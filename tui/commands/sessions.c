/* sessions - `cordon sessions`: what runs where, since when, and how much waits for an answer. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/link.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "tui/commands/commands.h"
#include "tui/commands/reading.h"

struct options {
	bool json;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct options, json),
	 "one object a line: session, id, folder, command, pid, since_us, pending"},
};

static const struct usage usage = {
	"sessions [--json]",
	"List the sessions of yours that run, with the ID that cordon attach takes.",
	flags,
	ARRAY_LEN(flags),
};

struct listing {
	const struct options *o;
	size_t n;
};

static void print_json(const struct link *l)
{
	AUTO_BUF struct buf out = BUF_INIT;
	static const char *const texts[] = {"folder", "command"};

	buf_fmt(&out, "{\"session\":\"%s\",\"id\":\"%s\"", l->session, l->tag);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *value = link_field(l, texts[i]);

		buf_fmt(&out, ",\"%s\":", texts[i]);
		json_quote(&out, value, strlen(value));
	}
	buf_fmt(&out, ",\"pid\":%lld,\"since_us\":%lld,\"pending\":%" PRIu64 "}",
		strtoll(link_field(l, "pid"), NULL, 10),
		strtoll(link_field(l, "since_us"), NULL, 10), l->pending);
	puts(out.data);
}

/* "~/p" for what lies in the home. */
static void print_folder(const char *folder)
{
	const char *home = getenv("HOME"), *below = home ? path_below(folder, home) : NULL;
	AUTO_FREE char *shown = below ? xasprintf(*below ? "~/%s" : "~%s", below) : NULL;

	show_text(shown ? shown : folder, strlen(shown ? shown : folder));
}

static int list(struct link *l, void *data, struct err *err)
{
	struct listing *to = data;
	const char *command = link_field(l, "command");
	char when[32];

	(void)err;
	if (to->o->json) {
		print_json(l);
		to->n++;
		return 0;
	}
	if (!to->n++)
		printf("%s%-6s  %-12s  %-8s  FOLDER: COMMAND%s\n", style_on(STYLE_DIM), "ID",
		       "SINCE", "WAITING", style_off());
	show_time(when, sizeof(when), strtoll(link_field(l, "since_us"), NULL, 10));
	printf("%s%-6s%s  %-12s  %s%-8" PRIu64 "%s  ", style_on(STYLE_BOLD), l->tag, style_off(),
	       when, l->pending ? style_on(STYLE_YELLOW) : "", l->pending,
	       l->pending ? style_off() : "");
	print_folder(link_field(l, "folder"));
	printf(": ");
	show_text(command, strlen(command));
	putchar('\n');
	return 0;
}

int cmd_sessions(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct listing to = {.o = &o};
	struct strings args = {0};
	AUTO_BUF struct buf mute = BUF_INIT;
	int r = reading_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && args.n)
		r = err_say(err, -EINVAL, "sessions: takes no arguments: usage: cordon %s",
			    usage.synopsis);
	strings_done(&args);
	if (r == 0)
		r = link_each(list, &to, &mute, err);
	if (r == 0 && mute.len)
		r = err_say(err, -EAGAIN, "%s", mute.data);
	if (r == 0 && !to.n && !o.json)
		puts("No session runs. Start one with cordon run.");
	if (r < 0)
		return CMD_FAILED;
	return finish(0, err);
}
