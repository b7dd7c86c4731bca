/* verbs - what views ask for, done to the session, the terminal and the program. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "core/base/clock.h"
#include "tui/console/console_priv.h"
#include "tui/console/copy.h"
#include "tui/console/pipe_command.h"
#include "tui/console/work.h"

#define BELL_US	 500000
#define ALERT_US 10000000 /* between two notifications of the terminal's own */
#define REST_US	 8000000  /* an agent that works prints more often */

static int verb_answer(void *data, uint64_t ask, const struct answer *a, struct err *err)
{
	return session_answer(((struct console *)data)->session, "console", ask, a, err);
}

static void verb_revoke(void *data, uint64_t rule)
{
	session_revoke(((struct console *)data)->session, "console", rule);
}

static int verb_forget(void *data, size_t i, struct err *err)
{
	return session_forget(((struct console *)data)->session, i, err);
}

static void verb_disconnect(void *data, uint64_t id, bool forbid)
{
	struct session *s = ((struct console *)data)->session;

	if (forbid)
		session_forbid(s, "console", id);
	else
		session_end_connection(s, id);
}

static void verb_publish(void *data, uint16_t port)
{
	session_publish(((struct console *)data)->session, port);
}

static uint64_t verb_plan(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	return session_plan(((struct console *)data)->session, kind, n, flags);
}

static uint64_t verb_undo(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	return session_undo(((struct console *)data)->session, kind, n, flags);
}

static uint64_t verb_restore(void *data, bool plan, int64_t step, const char *path, unsigned flags)
{
	struct session *s = ((struct console *)data)->session;
	const char *const paths[] = {path, NULL};

	return plan ? session_restore_plan(s, step, paths, flags)
		    : session_restore(s, step, paths, flags);
}

static uint64_t verb_restore_hunk(void *data, int64_t step, const char *path, unsigned hunk)
{
	return session_restore_hunk(((struct console *)data)->session, step, path, hunk);
}

static void verb_cancel(void *data)
{
	session_cancel(((struct console *)data)->session);
}

static void verb_stop(void *data)
{
	session_stop(((struct console *)data)->session);
}

static void verb_turn(void *data)
{
	struct console *c = data;

	c->sent_us = clock_mono_us();
	session_turn(c->session);
}

static void verb_leave(void *data)
{
	console_leave(data);
}

static void verb_restart(void *data)
{
	console_restart(data);
}

static int verb_own_settings(void *data, uint64_t ask, struct err *err)
{
	return session_own_settings(((struct console *)data)->session, "console", ask, err);
}

static void verb_suspend(void *data)
{
	struct console *c = data;

	screen_suspend(c->screen);
	raise(SIGTSTP); /* goes on here after SIGCONT */
	screen_resume(c->screen);
	c->ui->dirty = true;
	console_schedule(c);
}

static void verb_redraw(void *data)
{
	screen_redraw(((struct console *)data)->screen);
}

static void verb_bell(void *data)
{
	struct console *c = data;
	int64_t now = clock_mono_us();

	if (!c->screen || now - c->rang_us < BELL_US)
		return;
	c->rang_us = now;
	screen_bell(c->screen);
}

#define DESKTOP "exec notify-send -a cordon -- cordon \"$(cat)\""

/* The words are ours alone: nothing of the agent's reaches a terminal or a command this way. */
void console_notify(struct console *c, const char *words)
{
	const char *by = c->opt->notify ? c->opt->notify : "terminal";
	const char *command = str_eq(by, "desktop")   ? DESKTOP
			      : str_eq(by, "command") ? c->opt->notify_command
						      : NULL;
	struct err err = {0};

	if (!command || !*command) {
		AUTO_FREE char *line = xasprintf("cordon: %s", words);

		if (c->screen)
			screen_notify(c->screen, line);
	} else if (pipe_command(command, "console.notify", words, strlen(words), &err) < 0) {
		ui_say(c->ui, "%s", err.text);
	}
}

static void verb_alert(void *data)
{
	struct console *c = data;
	int64_t now = clock_mono_us();

	verb_bell(data);
	if (c->alerted_us && now - c->alerted_us < ALERT_US)
		return;
	c->alerted_us = now;
	console_notify(c, "something waits for your answer");
}

void console_called(struct console *c)
{
	int64_t now = clock_mono_us();

	if (!c->away || (c->called_us && now - c->called_us < ALERT_US))
		return;
	c->called_us = now;
	c->sent_us = 0;
	console_notify(c, "the agent calls you");
}

/* It has answered what was sent, and has printed nothing for a while. */
void console_rests(struct console *c)
{
	if (!c->sent_us || c->printed_us < c->sent_us || c->model->n_asks || c->model->exited ||
	    clock_mono_us() - c->printed_us < REST_US)
		return;
	c->sent_us = 0;
	if (c->away)
		console_notify(c, "the agent has finished, or waits for you");
}

static void after_work(void *data)
{
	struct console *c = data;

	if (c->ui && !c->leaving)
		console_schedule(c);
}

static void verb_submit(void *data, void (*work)(void *job), void (*done)(void *job), void *job)
{
	struct console *c = data;

	work_submit(&c->loop,
		    &(struct work){
			    .run = work, .done = done, .job = job, .after = after_work, .data = c});
}

/* Older than 3.2, tmux keeps the text for itself. */
#define TMUX_COPY "tmux load-buffer -w - || exec tmux load-buffer -"

static int verb_copy(void *data, const char *text, size_t len, struct err *err)
{
	struct console *c = data;

	if (c->opt->copy_command && *c->opt->copy_command)
		return pipe_command(c->opt->copy_command, "console.copy-command", text, len, err);
	if (console_can_split()) /* tmux takes no OSC 52 from a program, as it is installed */
		return pipe_command(TMUX_COPY, "tmux", text, len, err);
	if (!c->screen)
		return err_say(err, -ENOTTY, "the terminal has closed");
	return copy_by_terminal(c->screen, text, len, err);
}

/* By the human's command, with the address on its input: the shell does not read it. */
static int verb_open(void *data, const char *url, struct err *err)
{
	const char *command = ((struct console *)data)->opt->open;
	AUTO_FREE char *line = NULL;

	if (!command || !*command)
		return 1;
	line = xasprintf("%s \"$(cat)\"", command);
	return pipe_command(line, "console.open", url, strlen(url), err);
}

const struct ui_verbs console_verbs = {
	.open = verb_open,
	.answer = verb_answer,
	.revoke = verb_revoke,
	.forget = verb_forget,
	.disconnect = verb_disconnect,
	.publish = verb_publish,
	.plan = verb_plan,
	.undo = verb_undo,
	.restore = verb_restore,
	.restore_hunk = verb_restore_hunk,
	.edit = console_edit,
	.moment = console_moment,
	.theme = console_theme,
	.themes = console_themes,
	.theme_name = console_theme_name,
	.stop = verb_stop,
	.turn = verb_turn,
	.cancel = verb_cancel,
	.leave = verb_leave,
	.restart = verb_restart,
	.own_settings = verb_own_settings,
	.suspend = verb_suspend,
	.redraw = verb_redraw,
	.bell = verb_bell,
	.copy = verb_copy,
	.alert = verb_alert,
	.submit = verb_submit,
};
