/* replay_console - `cordon replay`: the console over a recording. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/record/recording_time.h"
#include "core/os/ticker.h"
#include "tui/console/console_priv.h"
#include "tui/console/replay.h"

#define TURN_MS 20 /* what is due is played so often */

/* ---- verbs: nothing can be done to the past -------------------------------------------------- */

static int verb_answer(void *data, uint64_t ask, const struct answer *a, struct err *err)
{
	(void)data;
	(void)ask;
	(void)a;
	return err_say(err, -EPERM, "This is a recording: nothing waits any more.");
}

static int verb_forget(void *data, size_t i, struct err *err)
{
	(void)data;
	(void)i;
	return err_say(err, -EPERM, "This is a recording: no rule is changed here.");
}

static void verb_revoke(void *data, uint64_t rule)
{
	struct console *c = data;

	(void)rule;
	ui_say(c->ui, "This is a recording: no answer is taken back here.");
}

static uint64_t refuse(void *data)
{
	struct model *m = ((struct console *)data)->model;

	free(m->plan_refused);
	m->plan_refused = xstrdup("this is a recording: cordon undo rolls steps back");
	m->plan_refused_by = -EPERM;
	m->version++;
	return ++m->plan_request;
}

static uint64_t verb_undo(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	(void)kind;
	(void)n;
	(void)flags;
	return refuse(data);
}

static uint64_t verb_restore(void *data, bool plan, int64_t step, const char *path, unsigned flags)
{
	(void)plan;
	(void)step;
	(void)path;
	(void)flags;
	return refuse(data);
}

static void verb_nothing(void *data)
{
	(void)data;
}

static void verb_leave(void *data)
{
	console_leave(data);
}

/* ---- the feed: a clock ----------------------------------------------------------------------- */

static int feed_fd(const struct console *c)
{
	return c->replay_clock;
}

static bool feed_wants_write(const struct console *c)
{
	(void)c;
	return false;
}

static void tell_search(struct console *c)
{
	int64_t at;
	int s;

	switch (replay_finding(c->replay, &at)) {
	case FIND_SEARCHING:
		s = (int)(at / 1000000);
		ui_say(c->ui, "Searching: %d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
		break;
	case FIND_HIT:
		ui_say(c->ui, "Found. n goes on, N goes back.");
		break;
	case FIND_NO_HIT:
		ui_say(c->ui, "It was nowhere on the screen or in the activity.");
		break;
	case FIND_NONE:
		break;
	}
}

static int feed_ready(struct console *c, bool readable, bool writable)
{
	bool moved = replay_playing(c->replay);

	(void)writable;
	if (!readable)
		return 0;
	os_ticker_read(c->replay_clock);
	c->ui->now_us = clock_mono_us();
	if (replay_tick(c->replay, c->ui->now_us) || moved) {
		c->term = replay_term(c->replay);
		replay_news(c->ui);
		console_schedule(c);
	}
	tell_search(c);
	return 0;
}

static void feed_tick(struct console *c)
{
	(void)c;
}

static const struct feed feed = {.fd = feed_fd,
				 .wants_write = feed_wants_write,
				 .ready = feed_ready,
				 .tick = feed_tick,
				 .gone = "The recording cannot be read."};

/* ---- life ------------------------------------------------------------------------------------ */

static int start_clock(struct console *c, struct err *err)
{
	c->replay_clock = os_ticker_open(TURN_MS);
	return c->replay_clock < 0 ? err_set(err, c->replay_clock, "start a clock") : 0;
}

static int run(struct console *c, const char *state_dir, struct err *err)
{
	struct recording *rec = replay_recording(c->replay);
	const char *folders[] = {recording_header(rec)->folder, NULL};
	struct ui_verbs verbs = console_verbs;

	verbs.answer = verb_answer;
	verbs.revoke = verb_revoke;
	verbs.forget = verb_forget;
	verbs.plan = verbs.undo = verb_undo;
	verbs.restore = verb_restore;
	verbs.restore_hunk = NULL;
	verbs.moment = NULL; /* it goes there itself */
	verbs.restart = NULL;
	verbs.own_settings = NULL;
	verbs.stop = verbs.cancel = verbs.bell = verbs.alert = verb_nothing;
	verbs.leave = verb_leave;
	if (console_open_screen(c, err) < 0 || start_clock(c, err) < 0)
		return 125;
	console_set_up_loop(c);
	console_open_ui(c, &verbs, folders[0], folders[0] ? folders : NULL, state_dir);
	if (c->opt->notes) {
		AUTO_BUF struct buf shown = BUF_INIT;

		text_escape(&shown, c->opt->notes, strlen(c->opt->notes));
		ui_say(c->ui, "%s", shown.data);
	}
	c->ui->now_us = clock_mono_us();
	if (recording_trouble(rec))
		ui_say(c->ui, "! %s", recording_trouble(rec));
	if (c->opt->speed > 0)
		replay_set_speed(c->replay, c->opt->speed, clock_mono_us());
	if (c->opt->idle_us)
		replay_set_idle(c->replay, *c->opt->idle_us, clock_mono_us());
	if (c->opt->at)
		replay_seek(c->replay, recording_time(rec, c->opt->at), clock_mono_us());
	else
		replay_play(c->replay, true, clock_mono_us());
	replay_news(c->ui);
	console_schedule(c);
	uv_run(&c->loop, UV_RUN_DEFAULT);
	c->leaving = true;
	ui_free(c->ui);
	c->ui = NULL;
	console_tear_down_loop(c);
	return c->killed_by ? 128 + c->killed_by : 0;
}

int console_replay(struct recording *rec, const struct attach_spec *spec,
		   const struct console_options *opt, struct err *err)
{
	struct console c = {.opt = opt,
			    .pty = PTY_INIT,
			    .pty_over = true,
			    .feed = &feed,
			    .replay_clock = -1,
			    .replay = replay_new(rec)};
	int status = 125;

	c.model = replay_model(c.replay);
	c.term = replay_term(c.replay);
	input_init(&c.input);
	if (console_load_look(&c, spec->home, NULL, err) == 0)
		status = run(&c, spec->state_dir, err);
	screen_close(c.screen);
	c.term = NULL; /* the replay's */
	console_done(&c);
	util_close_fd(&c.replay_clock);
	replay_free(c.replay);
	return status;
}
