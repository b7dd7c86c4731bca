/* attach - `cordon attach`: a console for a session that runs in another terminal. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/api/mirror.h"
#include "core/config/config.h"
#include "core/session/folders.h"
#include "tui/commands/attach_plain.h"
#include "tui/commands/commands.h"
#include "tui/commands/reading.h"
#include "tui/console/console.h"

struct attach_flags {
	bool plain;
};

static const struct flag flags[] = {
	{"--plain", NULL, offsetof(struct attach_flags, plain),
	 "lines instead of a console: for screen readers and logs"},
};

static const struct usage usage = {
	"attach [--plain] [SESSION]",
	"Show what a session that runs elsewhere does, and answer for it. SESSION is its name or "
	"the\n"
	"end of it, as cordon pending shows it; it is needed where several run.",
	flags,
	ARRAY_LEN(flags),
};

struct choice {
	const char *wanted; /* NULL: the only one */
	struct link link;   /* the first that fits */
	size_t found;
	struct buf names;
};

static int look_at(struct link *l, void *data, struct err *err)
{
	struct choice *c = data;

	(void)err;
	if (c->wanted && !str_eq(c->wanted, l->session) && !str_eq(c->wanted, l->tag))
		return 0;
	buf_fmt(&c->names, "%s%s", c->found ? ", " : "", l->session);
	if (c->found++)
		return 0;
	c->link = *l;
	*l = (struct link){.fd = -1, .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
	return 0;
}

static int choose(struct choice *c, struct err *err)
{
	AUTO_BUF struct buf mute = BUF_INIT;
	int r = link_each(look_at, c, &mute, err);

	if (r < 0)
		return r;
	if (!c->found && mute.len)
		return err_say(err, -EAGAIN, "attach: %s", mute.data);
	if (!c->found && c->wanted)
		return err_say(err, -ESRCH, "attach %s: no such session runs: try cordon attach",
			       c->wanted);
	if (!c->found)
		return err_say(err, -ESRCH, "attach: no session runs: start one with cordon run");
	if (c->found > 1)
		return err_say(err, -ESRCH, "attach: several sessions run: name one of %s",
			       c->names.data);
	return 0;
}

static int show_plain(struct choice *c, struct err *err)
{
	struct mirror *m = mirror_open(&c->link);
	int r = attach_plain(m, err);

	mirror_close(m);
	return r;
}

/* *next: the session to show then, chosen in the list of sessions, or NULL. */
static int show(struct choice *c, char **next, struct err *err)
{
	const char *home = getenv("HOME") ? getenv("HOME") : "/";
	AUTO_FREE char *state = folders_state_dir(home);
	struct mirror *m = mirror_open(&c->link);
	struct config *config = NULL;
	int r = config_load(&config,
			    &(struct config_spec){.home = home,
						  .config_home = getenv("XDG_CONFIG_HOME"),
						  .state_dir = state},
			    err);

	if (r == 0) {
		struct console_options opt = {0};

		folders_keep_out(state, home, config);
		console_options_set(&opt, config);
		r = console_attach(
			m, &(struct attach_spec){.home = home, .state_dir = state, .next = next},
			&opt, err);
	}
	config_free(config);
	mirror_close(m);
	return r;
}

int cmd_attach(int argc, char **argv, struct err *err)
{
	struct choice c = {.link = {.fd = -1}, .names = BUF_INIT};
	struct strings args = {0};
	struct attach_flags opt = {0};
	char *shown = NULL;
	int r = reading_parse(&usage, argc, argv, &opt, &args, err);

	if (r == 0 && args.n > 1)
		r = err_say(err, -EINVAL, "attach: takes one name: usage: cordon %s",
			    usage.synopsis);
	if (r == 0 && args.n && args.list)
		c.wanted = args.list[0];
	while (r == 0) {
		char *next = NULL;

		buf_clear(&c.names);
		c.found = 0;
		r = choose(&c, err);
		if (r == 0)
			r = opt.plain ? show_plain(&c, err) : show(&c, &next, err);
		else if (c.found)
			link_done(&c.link);
		if (!next)
			break;
		free(shown);
		c.wanted = shown = next;
	}
	strings_done(&args);
	buf_done(&c.names);
	free(shown);
	return r < 0 ? CMD_FAILED : r;
}
