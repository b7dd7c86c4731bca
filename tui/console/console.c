/* console - the full-screen application around one run: one libuv loop that owns everything. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/api/api.h"
#include "core/api/approver.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/console_priv.h"

#define FRAME_MS  16 /* at most one repaint in this time */
#define ESC_MS	  25 /* a lone Esc is taken as the key after this */
#define SETTLE_MS 50 /* the agent's terminal follows a resize when the drag rests */
#define TICK_MS	  1000
#define PUMP_US	  8000 /* of the agent's output at a time, then input and repaint */

static const int signal_numbers[N_SIGNALS] = {SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT};

/* ---- leaving -------------------------------------------------------------------------------- */

void console_leave(struct console *c)
{
	c->leaving = true;
	uv_stop(&c->loop);
}

static void on_exited(void *data, int wait_status)
{
	struct console *c = data;

	(void)wait_status;
	if (c->opt->exit_at_end)
		console_leave(c);
}

static void on_failed(void *data, int status, const char *words)
{
	struct console *c = data;

	c->failed = status;
	text_escape_into(c->words, sizeof(c->words), words, strlen(words));
	console_leave(c);
}

static void on_changed(void *data)
{
	struct console *c = data;

	if (!c->ui)
		return;
	api_changed(c->api);
	approver_changed(c->approver);
	ui_changed(c->ui);
	console_schedule(c);
}

static const struct session_listener listener = {
	.changed = on_changed,
	.exited = on_exited,
	.failed = on_failed,
};

/* ---- painting ------------------------------------------------------------------------------- */

static void on_frame(uv_timer_t *timer)
{
	struct console *c = timer->data;
	int64_t now = clock_mono_us();

	ui_draw(c->ui, &c->surface, now);
	screen_draw(c->screen, &c->surface);
	c->painted_us = clock_mono_us();
	if (c->ui->wake_us)
		uv_timer_start(&c->frame, on_frame,
			       (uint64_t)(MAX((int64_t)0, c->ui->wake_us - now) / 1000 + 1), 0);
}

/* Something changed: paint soon, at once when the last frame is long ago. */
void console_schedule(struct console *c)
{
	int64_t since = (clock_mono_us() - c->painted_us) / 1000;
	uint64_t wait = since >= FRAME_MS ? 0 : (uint64_t)(FRAME_MS - since);

	if (!c->screen || c->leaving)
		return;
	if (uv_is_active((uv_handle_t *)&c->frame) && uv_timer_get_due_in(&c->frame) <= wait)
		return;
	uv_timer_start(&c->frame, on_frame, wait, 0);
}

static void on_settle(uv_timer_t *timer)
{
	struct console *c = timer->data;

	term_resize(c->term, MAX(c->pane.h, TERM_MIN), MAX(c->pane.w, TERM_MIN));
	pty_resize(&c->pty, MAX(c->pane.h, TERM_MIN), MAX(c->pane.w, TERM_MIN));
	console_schedule(c);
}

static void follow_pane(struct console *c)
{
	struct rect pane = ui_resize(c->ui, c->surface.w, c->surface.h);

	if (pane.w == c->pane.w && pane.h == c->pane.h)
		return;
	c->pane = pane;
	uv_timer_start(&c->settle, on_settle, SETTLE_MS, 0);
}

static void resize(struct console *c)
{
	int w, h;

	screen_resized(c->screen, &w, &h);
	surface_resize(&c->surface, w, h);
	follow_pane(c);
	console_schedule(c);
}

static void on_tick(uv_timer_t *timer)
{
	struct console *c = timer->data;

	session_tick(c->session);
	console_schedule(c);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static void watch_session(struct console *c);
static void watch_pty(struct console *c);

static void on_session(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;
	int r = session_ready(c->session, status < 0 || events & UV_READABLE, events & UV_WRITABLE);

	if (r < 0 || status < 0) {
		c->session_over = true;
		uv_poll_stop(poll);
		if (!session_model(c->session)->exited && !c->failed) {
			ui_say(c->ui,
			       "x The sandbox's keeper has ended: nothing can change any more.");
			log_error("console", "keeper gone: %d", r);
		}
		console_schedule(c);
		return;
	}
	watch_session(c);
}

static void watch_session(struct console *c)
{
	int events = UV_READABLE | (session_wants_write(c->session) ? UV_WRITABLE : 0);

	if (!c->session_over)
		uv_poll_start(&c->poll_session, events, on_session);
}

static void on_more(uv_timer_t *timer);

/* What was read but not fed for want of time goes on in the next turn, after input and repaint:
 * the descriptor has nothing more to say about it. */
static void pump(struct console *c)
{
	int r = pty_pump(&c->pty, c->term, PUMP_US);

	if (term_dirty(c->term))
		console_schedule(c);
	if (r > 0)
		uv_timer_start(&c->more, on_more, 0, 0);
	if (r < 0) {
		c->pty_over = true;
		uv_poll_stop(&c->poll_pty);
	}
}

static void on_more(uv_timer_t *timer)
{
	struct console *c = timer->data;

	if (!c->pty_over)
		pump(c);
}

static void on_pty(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;

	if (events & UV_WRITABLE)
		pty_flush(&c->pty);
	if (status < 0 || events & UV_READABLE)
		pump(c);
	watch_pty(c);
}

static void watch_pty(struct console *c)
{
	int events = UV_READABLE | (pty_wants_write(&c->pty) ? UV_WRITABLE : 0);

	if (!c->pty_over)
		uv_poll_start(&c->poll_pty, events, on_pty);
}

/* A helper that has ended leaves nothing to poll. */
static void on_approver(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;

	(void)status;
	(void)events;
	approver_ready(c->approver);
	if (approver_fd(c->approver) < 0)
		uv_poll_stop(poll);
	watch_session(c);
}

static void on_esc(uv_timer_t *timer);

static void drain_input(struct console *c)
{
	struct event ev;

	while (!c->leaving && input_next(&c->input, &ev))
		ui_event(c->ui, &ev, clock_mono_us());
	if (input_pending(&c->input))
		uv_timer_start(&c->esc, on_esc, ESC_MS, 0);
	follow_pane(c);
	watch_pty(c);
	watch_session(c);
	console_schedule(c);
}

static void on_esc(uv_timer_t *timer)
{
	struct console *c = timer->data;

	input_flush(&c->input);
	drain_input(c);
}

static void on_tty(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;
	char bytes[16384];
	ssize_t n;

	(void)events;
	n = read(screen_fd(c->screen), bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR) && status == 0)
		return;
	if (n <= 0) { /* the terminal went away */
		c->killed_by = SIGHUP;
		console_leave(c);
		return;
	}
	uv_timer_stop(&c->esc);
	input_feed(&c->input, bytes, (size_t)n);
	drain_input(c);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct console *c = handle->data;

	if (number == SIGWINCH) {
		resize(c);
		return;
	}
	if (number == SIGCONT) {
		screen_resume(c->screen);
		console_schedule(c);
		return;
	}
	c->killed_by = number;
	console_leave(c);
}

/* ---- the agent's terminal ------------------------------------------------------------------- */

static void on_output(void *data, const void *bytes, size_t len)
{
	struct console *c = data;

	if (!c->pty_over && pty_write(&c->pty, bytes, len) < 0)
		ui_say(c->ui, "The agent does not read its input: that was dropped.");
}

static void on_bell(void *data)
{
	console_verbs.bell(data);
}

static void on_title(void *data, const char *title)
{
	(void)title; /* drawn with the pane */
	console_schedule(data);
}

static const struct term_events term_events = {
	.output = on_output,
	.bell = on_bell,
	.title = on_title,
};

/* ---- life ----------------------------------------------------------------------------------- */

static void set_up_loop(struct console *c)
{
	uv_timer_t *const timers[] = {&c->frame, &c->esc, &c->settle, &c->tick, &c->more};

	uv_loop_init(&c->loop);
	for (size_t i = 0; i < ARRAY_LEN(timers); i++) {
		uv_timer_init(&c->loop, timers[i]);
		timers[i]->data = c;
	}
	uv_poll_init(&c->loop, &c->poll_session, session_fd(c->session));
	uv_poll_init(&c->loop, &c->poll_pty, c->pty.fd);
	uv_poll_init(&c->loop, &c->poll_tty, screen_fd(c->screen));
	if (c->approver) {
		uv_poll_init(&c->loop, &c->poll_approver, approver_fd(c->approver));
		c->poll_approver.data = c;
		uv_poll_start(&c->poll_approver, UV_READABLE, on_approver);
	}
	c->poll_session.data = c->poll_pty.data = c->poll_tty.data = c;
	for (size_t i = 0; i < N_SIGNALS; i++) {
		uv_signal_init(&c->loop, &c->signals[i]);
		c->signals[i].data = c;
		uv_signal_start(&c->signals[i], on_signal, signal_numbers[i]);
	}
	uv_timer_start(&c->tick, on_tick, TICK_MS, TICK_MS);
	uv_poll_start(&c->poll_tty, UV_READABLE, on_tty);
	watch_session(c);
	watch_pty(c);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* Jobs under way finish here: they were told to stop by ui_free(). */
static void tear_down_loop(struct console *c)
{
	api_close(c->api);
	uv_walk(&c->loop, close_handle, NULL);
	uv_run(&c->loop, UV_RUN_DEFAULT);
	uv_loop_close(&c->loop);
}

static int open_screen(struct console *c, struct err *err)
{
	int w, h, r;

	r = screen_open(&c->screen, &(struct screen_options){.mouse = c->opt->mouse}, err);
	if (r < 0)
		return r;
	r = theme_load(&c->theme, c->opt->theme ? c->opt->theme : "default", &c->where,
		       screen_depth(c->screen), err);
	if (r < 0)
		return r;
	screen_resized(c->screen, &w, &h);
	surface_init(&c->surface, w, h);
	c->surface.roles = c->theme.roles;
	c->surface.ascii = c->opt->ascii || screen_wants_ascii(c->screen);
	return 0;
}

static void open_ui(struct console *c, const struct session_spec *spec)
{
	c->ui = ui_new(&(struct ui_spec){
		.model = session_model(c->session),
		.keymap = c->keymap,
		.term = c->term,
		.verbs = &console_verbs,
		.data = c,
		.folder = spec->folders && spec->folders[0] ? spec->folders[0] : spec->cwd,
		.folders = spec->folders,
		.state_dir = spec->state_dir,
		.mouse = c->opt->mouse,
	});
	c->pane = ui_resize(c->ui, c->surface.w, c->surface.h);
	on_settle(&(uv_timer_t){.data = c});
}

/* A session that cannot be reached from elsewhere is still a session: said, not refused. */
static void open_api(struct console *c, const struct session_spec *spec)
{
	AUTO_FREE char *dir = api_dir(spec->state_dir);
	struct err err = {0};

	if (api_open(&c->api, &c->loop, c->session, dir, &err) < 0)
		ui_say(c->ui, "Other terminals cannot answer for this session: %s", err.text);
}

/* Everything that can be refused is looked at before anything is started. */
static int prepare(struct console *c, const struct session_spec *spec, int *ret_slave,
		   struct err *err)
{
	const char *config_home = getenv("XDG_CONFIG_HOME");
	struct layout l;
	struct rect pane;
	int w, h, r;

	r = screen_check(err);
	if (r < 0)
		return r;
	c->config_dir = config_home && *config_home == '/'
				? path_join(config_home, "cordon")
				: path_join(spec->home ? spec->home : "/", ".config/cordon");
	c->where = (struct look_where){.dir = c->config_dir, .folders = spec->folders};
	r = keymap_load(&c->keymap, c->opt->keymap ? c->opt->keymap : "default", &c->where, err);
	if (r < 0)
		return r;
	r = theme_load(&c->theme, c->opt->theme ? c->opt->theme : "default", &c->where, DEPTH_256,
		       err);
	if (r < 0)
		return r;
	screen_probe_size(&w, &h);
	l = layout_compute(w, h, PANE_TERMINAL, false);
	pane = l.mode == LAYOUT_TOO_SMALL ? (struct rect){0, 0, w, h} : l.pane[PANE_TERMINAL];
	c->term = term_new(MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN), &term_events, c);
	return pty_open(&c->pty, MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN), ret_slave, err);
}

static void console_done(struct console *c)
{
	term_free(c->term);
	pty_done(&c->pty);
	input_done(&c->input);
	surface_done(&c->surface);
	keymap_free(c->keymap);
	free(c->config_dir);
}

static int exit_status(const struct console *c, const struct model *m, struct err *err)
{
	int st = m->wait_status;

	if (c->failed) {
		err_say(err, -EIO, "%s", c->words);
		return c->failed;
	}
	if (c->killed_by)
		return 128 + c->killed_by;
	if (!m->exited)
		return 128 + SIGTERM; /* ended by the human */
	return WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
}

static int run(struct console *c, const struct session_spec *given, int slave, struct err *err)
{
	struct session_spec spec = *given;
	int status = 125;

	spec.stdio[0] = spec.stdio[1] = spec.stdio[2] = slave;
	spec.tty = true;
	if (approver_open(&c->approver, spec.config, err) < 0)
		return 125;
	if (session_start(&c->session, &spec, &listener, c, err) < 0) {
		approver_close(c->approver);
		return 125;
	}
	approver_attach(c->approver, c->session);
	signal(SIGPIPE, SIG_IGN);
	if (open_screen(c, err) == 0) {
		set_up_loop(c);
		open_ui(c, &spec);
		open_api(c, &spec);
		console_schedule(c);
		if (!c->leaving)
			uv_run(&c->loop, UV_RUN_DEFAULT);
		c->leaving = true;
		ui_free(c->ui);
		c->ui = NULL;
		tear_down_loop(c);
		status = exit_status(c, session_model(c->session), err);
	}
	screen_close(c->screen);
	c->screen = NULL;
	approver_attach(c->approver, NULL);
	session_close(c->session);
	approver_close(c->approver);
	return status;
}

int console_run(const struct session_spec *spec, const struct console_options *opt, struct err *err)
{
	struct console c = {.opt = opt, .pty = PTY_INIT};
	int slave = -1, status = 125;

	input_init(&c.input);
	if (prepare(&c, spec, &slave, err) >= 0)
		status = run(&c, spec, slave, err);
	console_done(&c);
	return status;
}
