/* replay_console - `cordon replay`: the console over a recording. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/record/recording_time.h"
#include "core/os/ticker.h"
#include "tui/console/console_priv.h"
#include "tui/console/replay/replay.h"
#include "tui/console/start.h"

#define TURN_MS 20 /* interval of playing */

/* ---- verbs: refused in a recording ----------------------------------------------------------- */

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
	struct model *m = ((struct console *)data)->host->model;

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

/* ---- the clock ------------------------------------------------------------------------------- */

struct showing {
	struct host host; /* first */
	uv_loop_t loop;
	uv_poll_t turn;
	int clock;
};

static void tell_search(struct host *h)
{
	char text[24];
	int64_t at;

	switch (replay_finding(h->replay, &at)) {
	case FIND_SEARCHING:
		clock_length(text, at);
		host_say(h, "Searching: %s", text);
		break;
	case FIND_HIT:
		host_say(h, "Found. n goes on, N goes back.");
		break;
	case FIND_NO_HIT:
		host_say(h, "It was nowhere on the screen or in the activity.");
		break;
	case FIND_NONE:
		break;
	}
}

static void show_news(struct host *h)
{
	h->term = replay_term(h->replay);
	for (struct console *c = h->consoles; c; c = c->next)
		if (c->ui)
			replay_news(c->ui);
	host_schedule(h);
}

static void on_turn(uv_poll_t *poll, int status, int events)
{
	struct showing *s = poll->data;
	bool moved = replay_playing(s->host.replay);

	(void)status;
	(void)events;
	os_ticker_read(s->clock);
	if (replay_tick(s->host.replay, clock_mono_us()) || moved)
		show_news(&s->host);
	tell_search(&s->host);
}

static int begin(struct host *h, struct err *err)
{
	struct showing *s = (struct showing *)h;
	const struct console_options *opt = h->opt;
	struct recording *rec = replay_recording(h->replay);

	s->clock = os_ticker_open(TURN_MS);
	if (s->clock < 0)
		return err_set(err, s->clock, "start a clock");
	uv_poll_init(h->loop, &s->turn, s->clock);
	s->turn.data = s;
	uv_poll_start(&s->turn, UV_READABLE, on_turn);
	if (opt->notes) {
		AUTO_BUF struct buf shown = BUF_INIT;

		text_escape(&shown, opt->notes, strlen(opt->notes));
		host_say(h, "%s", shown.data);
	}
	if (recording_trouble(rec))
		host_say(h, "! %s", recording_trouble(rec));
	if (opt->speed > 0)
		replay_set_speed(h->replay, opt->speed, clock_mono_us());
	if (opt->idle_us)
		replay_set_idle(h->replay, *opt->idle_us, clock_mono_us());
	if (opt->at)
		replay_seek(h->replay, recording_time(rec, opt->at), clock_mono_us());
	else
		replay_play(h->replay, true, clock_mono_us());
	show_news(h);
	return 0;
}

static struct ui_verbs verbs_of_the_past(void)
{
	struct ui_verbs verbs = console_verbs;

	verbs.answer = verb_answer;
	verbs.revoke = verb_revoke;
	verbs.forget = verb_forget;
	verbs.plan = verbs.undo = verb_undo;
	verbs.restore = verb_restore;
	verbs.restore_hunk = NULL;
	verbs.moment = NULL; /* a replay seeks itself */
	verbs.restart = NULL;
	verbs.shell = NULL;
	verbs.own_settings = NULL;
	verbs.attach = NULL;
	verbs.detach = NULL;
	verbs.stop = verbs.cancel = verbs.bell = verbs.alert = verb_nothing;
	return verbs;
}

struct past_start {
	struct recording *rec;
	const struct attach_spec *spec;
	const struct console_options *opt;
};

static void host_past(void *data, struct frames *line, struct terminal *terminal)
{
	const struct past_start *p = data;
	const char *folders[] = {recording_header(p->rec)->folder, NULL};
	const struct ui_verbs verbs = verbs_of_the_past();
	struct showing s = {.host = {.loop = &s.loop,
				     .opt = p->opt,
				     .quiet = p->opt->agent,
				     .verbs = &verbs,
				     .home = p->spec->home,
				     .folders = folders[0] ? folders : NULL,
				     .folder = folders[0],
				     .state_dir = p->spec->state_dir,
				     .pty = PTY_INIT,
				     .replay = replay_new(p->rec)},
			    .clock = -1};

	s.host.model = replay_model(s.host.replay);
	s.host.term = replay_term(s.host.replay);
	host_run(&s.host, line, terminal, begin);
	util_close_fd(&s.clock);
	replay_free(s.host.replay);
}

int console_replay(struct recording *rec, const struct attach_spec *spec,
		   const struct console_options *opt, struct err *err)
{
	struct past_start p = {.rec = rec, .spec = spec, .opt = opt};
	struct ending end = {0};
	int r = start_host(&(struct start){.host = host_past, .data = &p}, &end, err);

	ending_done(&end);
	recording_free(rec);
	return r < 0 ? 125 : r;
}
