/* attach - `cordon attach`: a console for a session that runs in another terminal. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/session_pick.h"
#include "tui/console/client.h"

struct attach_flags {
	bool plain, read_only, undo;
};

static const struct flag flags[] = {
	{"--plain", NULL, offsetof(struct attach_flags, plain),
	 "lines instead of a console: for screen readers and logs"},
	{"--read-only", NULL, offsetof(struct attach_flags, read_only),
	 "look on: nothing goes to the agent, nothing is answered or undone, and the agent's "
	 "terminal "
	 "keeps its size"},
	{"--undo", NULL, offsetof(struct attach_flags, undo),
	 "show what undoing the session's last turn would do, do it if you confirm, and leave when "
	 "you close that"},
};

static const struct usage usage = {
	"attach [--plain | --read-only | --undo] [SESSION]",
	"Show what a session that runs elsewhere does, and answer for it. SESSION is its name or "
	"the "
	"end of it, as cordon pending shows it; without it the session of this folder, or the only "
	"one.",
	flags,
	ARRAY_LEN(flags),
};

/* Asks for a console; after the reply the connection carries frames only. */
static int ask_for_console(struct link *l, struct err *err)
{
	AUTO_BUF struct buf ask = BUF_INIT;
	int r;

	buf_str(&ask, "{\"type\":\"cmd.console\"}\n");
	r = link_command(l, &ask, err);
	return r == -EPERM ? err_wrap(err, r, "session %s", l->session) : r;
}

/* Shows the session. *next: the session to show after it, selected in the list of sessions; or
 * NULL. */
static int show(struct link *l, const struct attach_flags *f, char **next, struct err *err)
{
	AUTO_FREE char *folder = xstrdup(link_field(l, "folder"));
	struct ending end = {0};
	struct terminal here;
	int r = f->plain ? 0 : terminal_check("--plain", err);

	if (r == 0)
		r = here_keep_out(folder, err);
	if (r == 0)
		r = ask_for_console(l, err);
	if (r < 0)
		return r;
	terminal_here(&here);
	here.plain = f->plain;
	here.read_only = f->read_only;
	here.undo = f->undo;
	r = client_run(
		&(struct client_spec){.fd = take_fd(&l->fd), .plain = f->plain, .hello = &here},
		&end, err);
	terminal_done(&here);
	*next = take_ptr(&end.next);
	r = r == 0 ? end.status : r;
	if (end.words)
		fputs(end.words, stdout);
	if (r >= 0 && !end.detached && !f->plain)
		printf("The session has ended.\n");
	if (end.error)
		err_say(err, -EIO, "%s", end.error);
	ending_done(&end);
	return r;
}

int cmd_attach(int argc, char **argv, struct err *err)
{
	AUTO_FREE char *cwd = realpath(".", NULL);
	struct session_pick pick = {.who = "attach", .here = cwd};
	struct strings args = {0};
	struct attach_flags opt = {0};
	char *shown = NULL;
	int r = flags_parse(&usage, argc, argv, &opt, &args, err);

	if (r > 0) /* --help was printed */
		return 0;
	if (r == 0 && args.n > 1)
		r = err_say(err, -EINVAL, "attach: takes one name: usage: cordon %s",
			    usage.synopsis);
	if (r == 0 && opt.undo && (opt.plain || opt.read_only))
		r = err_say(err, -EINVAL, "attach: --undo needs a console that may change things");
	if (r == 0 && args.n && args.list)
		pick.wanted = args.list[0];
	while (r == 0) {
		struct link link;
		char *next = NULL;

		r = session_pick(&pick, &link, err);
		if (r == 0)
			r = show(&link, &opt, &next, err);
		link_done(&link);
		if (!next)
			break;
		free(shown);
		pick.wanted = shown = next;
	}
	strings_done(&args);
	free(shown);
	return r < 0 ? CMD_FAILED : r;
}
