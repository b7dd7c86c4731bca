/* board - `cordon board`: a console without a session, with the list of all sessions. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/console/console_priv.h"
#include "tui/console/start.h"

struct board {
	struct host host; /* first */
	uv_loop_t loop;
	struct model model; /* no session: empty */
};

/* Attaches on this terminal; the board returns after a detach. */
static void verb_attach(void *data, const char *session)
{
	struct console *c = data;
	struct err err = {0};

	if (console_cordon(c, (const char *const[]){"attach", session}, 2, &err) < 0)
		ui_say(c->ui, "x %s", err.text);
}

struct board_start {
	const struct attach_spec *spec;
	const struct console_options *opt;
};

static void host_board(void *data, struct frames *line, struct terminal *terminal)
{
	const struct board_start *s = data;
	struct ui_verbs verbs = console_verbs;
	struct board b = {.host = {.loop = &b.loop,
				   .model = &b.model,
				   .opt = s->opt,
				   .verbs = &verbs,
				   .home = s->spec->home,
				   .state_dir = s->spec->state_dir,
				   .pty = PTY_INIT,
				   .board = true}};

	verbs.attach = verb_attach;
	model_init(&b.model);
	host_run(&b.host, line, terminal, NULL);
	model_done(&b.model);
}

int console_board(const struct attach_spec *spec, const struct console_options *opt,
		  struct err *err)
{
	struct board_start s = {.spec = spec, .opt = opt};
	struct ending end = {0};
	int r = start_host(&(struct start){.host = host_board, .data = &s}, &end, err);

	ending_done(&end);
	return r < 0 ? 125 : r;
}
