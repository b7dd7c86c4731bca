/* lend - the console's terminal for another program of the human's, until that has ended. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/external.h"
#include "tui/console/console_priv.h"

/*
 * The program runs outside of the sandbox, in cordon's own process group. The loop goes on while it
 * runs, so the session is served; nothing is drawn and no key is read until it has ended.
 */

static void on_closed(uv_handle_t *handle)
{
	struct console *c = handle->data;

	c->lent = false;
	if (c->leaving || !c->screen)
		return;
	screen_resume(c->screen);
	console_watch_tty(c, true);
	console_resize(c);
}

static void on_exit_of_it(uv_process_t *process, int64_t status, int signal_number)
{
	struct console *c = process->data;

	if (c->ui && c->borrower->broken(status))
		ui_say(c->ui, "x %s", c->borrower->words);
	(void)signal_number;
	uv_close((uv_handle_t *)process, on_closed);
}

int console_lend(struct console *c, const struct borrower *to, char **argv, struct err *err)
{
	uv_stdio_container_t stdio[3];
	uv_process_options_t opt = {.exit_cb = on_exit_of_it, .file = argv[0], .args = argv};
	struct err why = {0};
	int r;

	if (c->lent)
		return err_say(err, -EBUSY, "another program has this terminal");
	for (int i = 0; i < 3; i++)
		stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = i};
	opt.stdio = stdio;
	opt.stdio_count = 3;
	console_watch_tty(c, false);
	screen_suspend(c->screen);
	c->lent = true;
	c->borrower = to;
	c->borrowing.data = c;
	r = external_uv(&c->loop, &c->borrowing, &opt, &why);
	if (r == 0)
		return 0;
	uv_close((uv_handle_t *)&c->borrowing, on_closed);
	return err_say(err, r, "%s cannot be started: %s", to->name, why.text);
}

void console_end_lent(struct console *c)
{
	if (c->lent)
		uv_process_kill(&c->borrowing, SIGHUP);
}
