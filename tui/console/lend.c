/* lend - lends the client's terminal to another of the user's programs until it ends. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "tui/console/console_priv.h"

/* The program runs outside the sandbox, as a child of the client. The loop continues, so the
 * session is served; nothing is drawn for this client until the program ends. */
int console_lend(struct console *c, const struct borrower *to, char **argv, struct err *err)
{
	AUTO_BUF struct buf words = BUF_INIT;

	if (c->lent || !c->screen)
		return err_say(err, -EBUSY, "another program has this terminal");
	for (; *argv; argv++)
		buf_add(&words, *argv, strlen(*argv) + 1);
	screen_suspend(c->screen);
	c->lent = true;
	c->borrower = to;
	frames_send(&c->line, FRAME_RUN, words.data, words.len);
	return 0;
}

/* Frames before this one gave the terminal's size and said that the client has it again. */
void console_lent_ended(struct console *c, int status)
{
	if (!c->lent)
		return;
	c->lent = false;
	if (c->borrower->broken(status))
		ui_say(c->ui, "x %s", c->borrower->words);
	screen_resume(c->screen);
	console_schedule(c);
}
