/* hangup - the terminal has closed: the session ends, or goes on without a console. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include "tui/console/console_priv.h"

/* Programs that start from now on read and write nothing there, instead of failing. */
static void replace_closed_stdio(void)
{
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct termios modes;

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		if (tcgetattr(fd, &modes) < 0 && errno == EIO)
			dup2(null, fd);
}

/* Nothing is drawn and no key is read from here on. The loop goes on: the agent's terminal is
 * emptied and recorded, `cordon attach` and `cordon approve` are served. */
static void detach(struct console *c)
{
	console_watch_tty(c, false);
	uv_timer_stop(&c->frame);
	uv_timer_stop(&c->esc);
	uv_timer_stop(&c->settle);
	console_end_lent(c);
	while (c->ui->n_popups > 0)
		ui_pop(c->ui);
	screen_close(take_ptr(&c->screen));
	replace_closed_stdio();
	c->away = true;
}

static const char goes_on[] = "the terminal closed: the session goes on without a console "
			      "(cordon attach shows it)";

static void on_detached(uv_timer_t *timer)
{
	console_notify(timer->data, goes_on);
}

void console_hang_up(struct console *c)
{
	static const char ends[] = "the terminal closed: the session ends "
				   "(console.on-hangup = detach lets it go on)";

	if (!c->screen)
		return;
	if (c->session && c->opt->detach && !c->model->exited && !c->session_over) {
		detach(c);
		fprintf(stderr, "cordon: %s\n", goes_on); /* SIGHUP may also come alone */
		session_note(c->session, goes_on);
		/* A command that began now might get the terminal's second SIGHUP. */
		uv_timer_start(&c->settle, on_detached, 1000, 0);
		return;
	}
	if (c->session)
		session_note(c->session, ends);
	c->killed_by = SIGHUP;
	console_leave(c);
}
