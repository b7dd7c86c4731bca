/* verbs - performs the actions of views on the session, the terminal and the program. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tui/console/console_priv.h"
#include "tui/console/copy.h"
#include "tui/console/pipe_command.h"
#include "tui/console/work.h"

#define BELL_US 500000

static int verb_answer(void *data, uint64_t ask, const struct answer *a, struct err *err)
{
	return session_answer(((struct console *)data)->host->session, "console", ask, a, err);
}

static void verb_revoke(void *data, uint64_t rule)
{
	session_revoke(((struct console *)data)->host->session, "console", rule);
}

static int verb_forget(void *data, size_t i, struct err *err)
{
	return session_forget(((struct console *)data)->host->session, i, err);
}

static void verb_disconnect(void *data, uint64_t id, bool forbid)
{
	struct session *s = ((struct console *)data)->host->session;

	if (forbid)
		session_forbid(s, "console", id);
	else
		session_end_connection(s, id);
}

static void verb_publish(void *data, uint16_t port)
{
	session_publish(((struct console *)data)->host->session, "console", port);
}

static uint64_t verb_plan(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	return session_plan(((struct console *)data)->host->session, kind, n, flags);
}

static uint64_t verb_undo(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	return session_undo(((struct console *)data)->host->session, kind, n, flags);
}

static uint64_t verb_restore(void *data, bool plan, int64_t step, const char *path, unsigned flags)
{
	struct session *s = ((struct console *)data)->host->session;
	const char *const paths[] = {path, NULL};

	return plan ? session_restore_plan(s, step, paths, flags)
		    : session_restore(s, step, paths, flags);
}

static uint64_t verb_restore_hunk(void *data, int64_t step, const char *path, unsigned hunk)
{
	return session_restore_hunk(((struct console *)data)->host->session, step, path, hunk);
}

static void verb_cancel(void *data)
{
	session_cancel(((struct console *)data)->host->session);
}

static void verb_stop(void *data)
{
	session_stop(((struct console *)data)->host->session);
}

static const struct reviewed *verb_reviewed(void *data)
{
	return session_reviewed(((struct console *)data)->host->session);
}

static void verb_review(void *data, enum review_verb verb, const struct hunk *const *list, size_t n)
{
	session_review(((struct console *)data)->host->session, verb, list, n);
}

static void verb_comment(void *data, const struct hunk *h, int line, const char *text)
{
	session_review_comment(((struct console *)data)->host->session, h, line, text);
}

static void verb_review_sent(void *data)
{
	session_review_sent(((struct console *)data)->host->session);
}

static void verb_reopen(void *data, unsigned round, unsigned number)
{
	session_point_reopen(((struct console *)data)->host->session, round, number);
}

static bool verb_tell(void *data, const char *text)
{
	return session_notice_lines(((struct console *)data)->host->session, text);
}

static char *verb_notices(void *data)
{
	return session_take_notices(((struct console *)data)->host->session);
}

static void verb_turn(void *data)
{
	struct console *c = data;

	c->host->sent_us = clock_mono_us();
	session_turn(c->host->session);
}

static void verb_answered(void *data)
{
	struct host *h = ((struct console *)data)->host;

	h->agent_asked = false;
	session_agent_asks(h->session, false);
	host_schedule(h);
}

/* Ends the agent if it runs. A session whose agent has ended stays until its last console
 * leaves. */
static void verb_leave(void *data)
{
	struct console *c = data;
	struct host *h = c->host;

	if ((h->model->exited || h->over) && host_has_human(h, c))
		console_end(c, &(struct ending){.status = h->status ? h->status(h) : 0,
						.detached = true});
	else
		host_leave(h);
}

void console_detach(struct console *c, char *words)
{
	console_end(c, &(struct ending){.detached = true, .words = words});
	c->host->left(c->host, false);
}

static void verb_detach(void *data)
{
	static char words[] = "Detached: cordon attach takes the session up again.\n";

	console_detach(data, words);
}

/* Restarts by the client that started the session. */
static void verb_restart(void *data)
{
	struct host *h = ((struct console *)data)->host;

	for (struct console *c = h->consoles; c; c = c->next) {
		if (!c->starter)
			continue;
		h->again = true;
		host_leave(h);
		return;
	}
	host_say(h,
		 "The console that started the agent is closed: end the session, then cordon run.");
}

static int verb_own_settings(void *data, uint64_t ask, struct err *err)
{
	return session_own_settings(((struct console *)data)->host->session, "console", ask, err);
}

/* Stops the client, which reports when it continues. */
static void verb_suspend(void *data)
{
	struct console *c = data;

	screen_suspend(c->screen);
	frames_send(&c->line, FRAME_SUSPEND, NULL, 0);
}

static void verb_redraw(void *data)
{
	screen_redraw(((struct console *)data)->screen);
}

static void verb_bell(void *data)
{
	struct console *c = data;
	int64_t now = clock_mono_us();

	if (!c->screen || c->lent || now - c->rang_us < BELL_US)
		return;
	c->rang_us = now;
	screen_bell(c->screen);
}

static void after_work(void *data)
{
	struct host *h = data;

	if (!h->leaving)
		host_schedule(h);
	host_release(h);
}

/* Runs a job on a worker. The console may have closed when it ends; the host waits for the job. */
static void verb_submit(void *data, void (*work)(void *job), void (*done)(void *job), void *job)
{
	struct host *h = ((struct console *)data)->host;

	h->open++;
	work_submit(h->loop,
		    &(struct work){
			    .run = work, .done = done, .job = job, .after = after_work, .data = h});
}

/* tmux before 3.2 has no -w and keeps the text to itself. */
#define TMUX_COPY "tmux %s load-buffer -w - || exec tmux %s load-buffer -"

static int copy_by_tmux(const struct console *c, const char *text, size_t len, struct err *err)
{
	AUTO_FREE char *socket = console_tmux(c), *line = NULL;
	AUTO_BUF struct buf option = BUF_INIT;

	if (socket) {
		buf_str(&option, "-S ");
		text_shell_word(&option, socket);
	}
	line = xasprintf(TMUX_COPY, option.data, option.data);
	return pipe_command(line, "tmux", text, len, err);
}

static int verb_copy(void *data, const char *text, size_t len, struct err *err)
{
	struct console *c = data;

	if (c->opt->copy_command && *c->opt->copy_command)
		return pipe_command(c->opt->copy_command, "console.copy-command", text, len, err);
	if (console_can_split(c)) /* tmux, by default, accepts no OSC 52 from programs */
		return copy_by_tmux(c, text, len, err);
	if (!c->screen)
		return err_say(err, -ENOTTY, "the terminal has closed");
	return copy_by_terminal(c->screen, text, len, err);
}

/* Runs the user's command with the address on its input: the shell does not read it. */
static int verb_open(void *data, const char *url, struct err *err)
{
	const char *command = ((struct console *)data)->opt->open;
	AUTO_FREE char *line = NULL;

	if (!command || !*command)
		return 1;
	line = xasprintf("%s \"$(cat)\"", command);
	return pipe_command(line, "console.open", url, strlen(url), err);
}

static int verb_shell(void *data, struct err *err)
{
	const struct console *c = data;

	return console_cordon(data, (const char *const[]){"exec", c->host->model->session}, 2, err);
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
	.reviewed = verb_reviewed,
	.review = verb_review,
	.comment = verb_comment,
	.review_sent = verb_review_sent,
	.reopen = verb_reopen,
	.tell = verb_tell,
	.notices = verb_notices,
	.turn = verb_turn,
	.answered = verb_answered,
	.cancel = verb_cancel,
	.attach = console_attach,
	.cordon = console_cordon,
	.shell = verb_shell,
	.leave = verb_leave,
	.detach = verb_detach,
	.restart = verb_restart,
	.own_settings = verb_own_settings,
	.suspend = verb_suspend,
	.redraw = verb_redraw,
	.bell = verb_bell,
	.copy = verb_copy,
	.alert = verb_bell, /* host_changed() alerts the user */
	.submit = verb_submit,
};

/* ---- read-only users ------------------------------------------------------------------------- */

#define LOOKS_ON "You look on: that is not done from here (attach --read-only)."

static int no_answer(void *data, uint64_t ask, const struct answer *a, struct err *err)
{
	(void)data, (void)ask, (void)a;
	return err_say(err, -EPERM, "%s", LOOKS_ON);
}

static void no_revoke(void *data, uint64_t rule)
{
	(void)rule;
	ui_say(((struct console *)data)->ui, LOOKS_ON);
}

static int no_forget(void *data, size_t i, struct err *err)
{
	(void)data, (void)i;
	return err_say(err, -EPERM, "%s", LOOKS_ON);
}

static uint64_t no_undo(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	(void)data, (void)kind, (void)n, (void)flags;
	return 0;
}

static uint64_t no_restore(void *data, bool plan, int64_t step, const char *path, unsigned flags)
{
	(void)data, (void)plan, (void)step, (void)path, (void)flags;
	return 0;
}

static void no_stop(void *data)
{
	ui_say(((struct console *)data)->ui, LOOKS_ON);
}

void console_look_on(struct ui_verbs *v)
{
	v->answer = no_answer;
	v->revoke = no_revoke;
	v->forget = no_forget;
	v->disconnect = NULL;
	v->publish = NULL;
	v->plan = v->undo = no_undo;
	v->restore = no_restore;
	v->restore_hunk = NULL;
	v->review = NULL;
	v->comment = NULL;
	v->review_sent = NULL;
	v->reopen = NULL;
	v->tell = NULL;
	v->stop = v->cancel = no_stop;
	v->turn = NULL;
	v->answered = NULL;
	v->restart = NULL;
	v->shell = NULL;
	v->own_settings = NULL;
	v->notices = NULL;
	v->leave = verb_detach;
}
