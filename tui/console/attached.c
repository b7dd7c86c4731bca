/* attached - the console of a session that runs elsewhere: requests, steps, connections, activity.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/api/mirror.h"
#include "core/base/external.h"
#include "core/base/text.h"
#include "core/session/answers.h"
#include "core/session/session.h"
#include "tui/console/console_priv.h"

/* What takes the place of the agent's terminal, which belongs to one console. */
static const char no_terminal[] =
	"\033[?25lThe agent's terminal is in\r\nthe session's own console.\r\n\r\n"
	"Here are its activity, its steps,\r\nand what waits for an answer.\r\n";

/* ---- verbs ----------------------------------------------------------------------------------- */

static int verb_answer(void *data, uint64_t ask, const struct answer *a, struct err *err)
{
	struct console *c = data;
	const struct ask *what = model_ask(c->model, ask);
	const char *refusal = what ? answers_refusal(c->model, what, a) : NULL;

	if (refusal)
		return err_say(err, -EPERM, "%s", refusal);
	mirror_answer(c->mirror, ask, a);
	return 0;
}

static int verb_own_settings(void *data, uint64_t ask, struct err *err)
{
	(void)err;
	mirror_own_settings(((struct console *)data)->mirror, ask);
	return 0;
}

static void verb_revoke(void *data, uint64_t rule)
{
	mirror_revoke(((struct console *)data)->mirror, rule);
}

static void verb_disconnect(void *data, uint64_t id, bool forbid)
{
	mirror_disconnect(((struct console *)data)->mirror, id, forbid);
}

static void verb_publish(void *data, uint16_t port)
{
	mirror_publish(((struct console *)data)->mirror, port);
}

/* The session's keeper plans and performs it. */
static uint64_t verb_plan(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	return mirror_plan(((struct console *)data)->mirror,
			   &(struct undo_wish){.kind = kind, .n = n, .flags = flags});
}

/* What is confirmed is the plan that was shown. */
static uint64_t verb_undo(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	(void)kind;
	(void)n;
	return mirror_undo(((struct console *)data)->mirror, flags);
}

static uint64_t verb_restore(void *data, bool plan, int64_t step, const char *path, unsigned flags)
{
	struct mirror *m = ((struct console *)data)->mirror;

	return plan ? mirror_plan(m, &(struct undo_wish){.kind = UNDO_PATHS,
							 .n = 1,
							 .step = step,
							 .path = path,
							 .flags = flags})
		    : mirror_undo(m, flags);
}

static void verb_cancel(void *data)
{
	mirror_cancel(((struct console *)data)->mirror);
}

static void verb_stop(void *data)
{
	mirror_stop(((struct console *)data)->mirror);
}

static void verb_nothing(void *data)
{
	(void)data;
}

static void verb_attach(void *data, const char *session)
{
	struct console *c = data;

	free(*c->attach_next);
	*c->attach_next = xstrdup(session);
	console_leave(c);
}

static void verb_leave(void *data)
{
	console_leave(data);
}

/* ---- the feed -------------------------------------------------------------------------------- */

static int feed_fd(const struct console *c)
{
	return mirror_fd(c->mirror);
}

static bool feed_wants_write(const struct console *c)
{
	return mirror_wants_write(c->mirror);
}

static void show_news(struct console *c)
{
	AUTO_FREE char *refusal = mirror_refusal(c->mirror);
	AUTO_BUF struct buf shown = BUF_INIT;

	if (refusal) {
		text_escape(&shown, refusal, strlen(refusal));
		ui_say(c->ui, "Not possible: %s.", shown.data);
	}
	ui_changed(c->ui);
	console_schedule(c);
}

static int feed_ready(struct console *c, bool readable, bool writable)
{
	uint64_t before = c->model->version;
	int r = mirror_ready(c->mirror, readable, writable);

	if (c->model->version != before)
		show_news(c);
	if (r < 0) { /* nothing can be undone from here, as it could when the agent had ended */
		c->model->exited = true;
		c->ui->over = true;
		ui_say(c->ui, "%s", c->feed->gone);
	}
	return r;
}

static void feed_tick(struct console *c)
{
	(void)c;
}

static const struct feed feed = {
	.fd = feed_fd,
	.wants_write = feed_wants_write,
	.ready = feed_ready,
	.tick = feed_tick,
	.gone = "The session has ended: there is nothing more to see here."};

/* The terminal here shows one text and takes no keys. */
static void on_output(void *data, const void *bytes, size_t len)
{
	(void)data;
	(void)bytes;
	(void)len;
}

static void on_title(void *data, const char *title)
{
	(void)data;
	(void)title;
}

static const struct term_events term_events = {
	.output = on_output, .bell = verb_nothing, .title = on_title};

/* ---- life ------------------------------------------------------------------------------------ */

static int run(struct console *c, const char *state_dir, struct err *err)
{
	const char *folders[] = {mirror_folder(c->mirror), NULL};
	struct ui_verbs verbs = console_verbs;

	verbs.answer = verb_answer;
	verbs.revoke = verb_revoke;
	verbs.disconnect = verb_disconnect;
	verbs.publish = verb_publish;
	verbs.plan = verb_plan;
	verbs.undo = verb_undo;
	verbs.restore = verb_restore;
	verbs.restore_hunk = NULL;
	verbs.restart = NULL;
	verbs.own_settings = verb_own_settings;
	verbs.stop = verb_stop;
	verbs.cancel = verb_cancel;
	verbs.turn = NULL;
	verbs.attach = c->attach_next ? verb_attach : NULL;
	verbs.leave = verb_leave;
	signal(SIGPIPE, SIG_IGN);
	if (console_open_screen(c, err) < 0)
		return 125;
	console_set_up_loop(c);
	console_open_ui(c, &verbs, folders[0], folders, state_dir);
	term_feed(c->term, no_terminal, sizeof(no_terminal) - 1);
	ui_focus(c->ui, PANE_AUDIT);
	ui_changed(c->ui);
	console_schedule(c);
	uv_run(&c->loop, UV_RUN_DEFAULT);
	c->leaving = true;
	ui_free(c->ui);
	c->ui = NULL;
	console_tear_down_loop(c);
	return c->killed_by ? 128 + c->killed_by : 0;
}

int console_attach(struct mirror *mirror, const struct attach_spec *spec,
		   const struct console_options *opt, struct err *err)
{
	const char *folders[] = {mirror_folder(mirror), NULL};
	struct console c = {.opt = opt,
			    .pty = PTY_INIT,
			    .pty_over = true,
			    .feed = &feed,
			    .mirror = mirror,
			    .attach_next = spec->next,
			    .model = mirror_model(mirror)};
	int status = 125;

	external_keep_out(folders[0]);
	input_init(&c.input);
	if (console_load_look(&c, spec->home, folders, err) == 0) {
		c.term = term_new(TERM_MIN, 80, &term_events, &c);
		status = run(&c, spec->state_dir, err);
	}
	screen_close(c.screen);
	console_done(&c);
	return status;
}
