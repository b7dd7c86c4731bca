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
#define PUMP_US	  8000	  /* of the agent's output at a time, then input and repaint */
#define DRAIN_US  1000000 /* of output that is still read when the console is left */

static const int signal_numbers[N_SIGNALS] = {SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT};

/* ---- leaving -------------------------------------------------------------------------------- */

void console_leave(struct console *c)
{
	c->leaving = true;
	uv_stop(&c->loop);
}

void console_restart(struct console *c)
{
	c->again = true;
	console_leave(c);
}

/* ---- painting ------------------------------------------------------------------------------- */

/* Which program, and what it waits for: for the terminal's tab and its window list. */
static void tell_title(struct console *c)
{
	AUTO_BUF struct buf title = BUF_INIT;
	const char *command = c->model->command ? c->model->command : "";
	size_t len = strcspn(command, " ");
	AUTO_FREE char *program = xstrndup(command, len);
	const char *base = path_base(program);

	buf_str(&title, "cordon");
	if (*base) {
		buf_str(&title, ": ");
		text_escape(&title, base, MIN(strlen(base), (size_t)64));
	}
	if (c->model->n_asks)
		buf_fmt(&title, " - ? %zu waiting", c->model->n_asks);
	screen_title(c->screen, title.data);
}

static void on_frame(uv_timer_t *timer)
{
	struct console *c = timer->data;
	int64_t now = clock_mono_us();

	if (c->lent || !c->screen)
		return;
	ui_draw(c->ui, &c->surface, now);
	/* (a key has nothing to show yet: the frame is its echo's) */
	if (screen_draw(c->screen, &c->surface)) {
		c->painted_us = clock_mono_us();
		c->hurry = false;
	}
	tell_title(c);
	if (c->ui->wake_us)
		uv_timer_start(&c->frame, on_frame,
			       (uint64_t)(MAX((int64_t)0, c->ui->wake_us - now) / 1000 + 1), 0);
}

/* Something changed: paint soon, at once when the last frame is long ago. */
void console_schedule(struct console *c)
{
	int64_t since = (clock_mono_us() - c->painted_us) / 1000;
	uint64_t wait = since >= FRAME_MS || c->hurry ? 0 : (uint64_t)(FRAME_MS - since);

	if (!c->screen || c->leaving || c->lent)
		return;
	if (uv_is_active((uv_handle_t *)&c->frame) && uv_timer_get_due_in(&c->frame) <= wait)
		return;
	uv_timer_start(&c->frame, on_frame, wait, 0);
}

void console_settle(struct console *c)
{
	if (c->replay) { /* it has the size that it had */
		console_schedule(c);
		return;
	}
	term_resize(c->term, MAX(c->pane.h, TERM_MIN), MAX(c->pane.w, TERM_MIN));
	pty_resize(&c->pty, MAX(c->pane.h, TERM_MIN), MAX(c->pane.w, TERM_MIN));
	tape_resize(c->tape, MAX(c->pane.w, TERM_MIN), MAX(c->pane.h, TERM_MIN));
	console_schedule(c);
}

static void on_settle(uv_timer_t *timer)
{
	console_settle(timer->data);
}

static void follow_pane(struct console *c)
{
	struct rect pane = ui_resize(c->ui, c->surface.w, c->surface.h);

	if (pane.w == c->pane.w && pane.h == c->pane.h)
		return;
	c->pane = pane;
	uv_timer_start(&c->settle, on_settle, SETTLE_MS, 0);
}

void console_resize(struct console *c)
{
	int w, h;

	screen_resized(c->screen, &w, &h);
	surface_resize(&c->surface, w, h);
	follow_pane(c);
	console_schedule(c);
}

/* A line that goes, and a row and a record that stay: what is missing in a replay is told there. */
static void note_tape(struct console *c, const char *what, const char *why)
{
	AUTO_FREE char *words = xasprintf("%s%s", what, why);

	ui_say(c->ui, "%s.", words);
	if (c->session)
		session_note(c->session, words);
}

static void on_tick(uv_timer_t *timer)
{
	struct console *c = timer->data;
	AUTO_FREE char *failed = tape_failure(c->tape);

	if (failed)
		note_tape(c, "the recording has ended: ", failed);
	if (tape_is_thinned(c->tape))
		note_tape(c,
			  "the recording is long: from here on it has the screen once a second, "
			  "and every event",
			  "");
	c->feed->tick(c);
	console_watch_look(c);
	console_rests(c);
	console_schedule(c);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static void watch_session(struct console *c);
static void watch_pty(struct console *c);
static void pump(struct console *c);

/* What was printed before a row comes before it in the recording, too: a read of the terminal gets
 * all that was written until now. */
static void on_session(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;
	int r;

	if (!c->pty_over && events & UV_READABLE)
		pump(c);
	r = c->feed->ready(c, status < 0 || events & UV_READABLE, events & UV_WRITABLE);
	if (r < 0 || status < 0) {
		c->session_over = true;
		uv_poll_stop(poll);
		if (!c->model->exited && !c->failed) {
			ui_say(c->ui, "%s", c->feed->gone);
			log_error("console", "%s: %d", c->feed->gone, r);
		}
		if (!c->screen) /* nobody is there to read it */
			console_leave(c);
		console_schedule(c);
		return;
	}
	watch_session(c);
}

static void watch_session(struct console *c)
{
	int events = UV_READABLE | (c->feed->wants_write(c) ? UV_WRITABLE : 0);

	if (!c->session_over)
		uv_poll_start(&c->poll_session, events, on_session);
}

static void on_more(uv_timer_t *timer);

/* What was read but not fed for want of time goes on in the next turn, after input and repaint:
 * the descriptor has nothing more to say about it. */
static void pump(struct console *c)
{
	int r = pty_pump(&c->pty, c->term, PUMP_US);

	if (term_dirty(c->term)) {
		c->printed_us = clock_mono_us();
		console_schedule(c);
	}
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

void console_drain(struct console *c)
{
	int64_t deadline = clock_mono_us() + DRAIN_US;
	int r = c->pty_over ? 0 : 1;

	while (r > 0 && clock_mono_us() < deadline)
		r = pty_pump(&c->pty, c->term, PUMP_US);
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

/* For programs that choose their colours by the pane's: the theme's, else the human's terminal's.
 */
void console_tell_colors(struct console *c)
{
	struct style st = c->theme.roles[ROLE_TERMINAL];

	if (c->screen && screen_depth(c->screen) == DEPTH_TRUE)
		theme_tint(&c->theme, c->own_color[1]);
	if (c->term)
		term_set_colors(c->term, st.fg ? st.fg : c->own_color[0],
				st.bg ? st.bg : c->own_color[1]);
}

static void hear_color(struct console *c, const struct event *ev)
{
	c->own_color[ev->background] = ev->color;
	console_tell_colors(c);
}

static void on_esc(uv_timer_t *timer);

static void drain_input(struct console *c)
{
	struct event ev;

	while (!c->leaving && input_next(&c->input, &ev)) {
		/* Not every terminal tells; keys come from where the human looks. */
		c->away = ev.type == EVENT_FOCUS ? !ev.focused : c->away && ev.type != EVENT_KEY;
		c->hurry |= ev.type == EVENT_KEY;
		if (ev.type == EVENT_COLOR)
			hear_color(c, &ev);
		else
			ui_event(c->ui, &ev, clock_mono_us());
	}
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
	if (n <= 0) {
		console_hang_up(c);
		return;
	}
	uv_timer_stop(&c->esc);
	input_feed(&c->input, bytes, (size_t)n);
	drain_input(c);
}

void console_watch_tty(struct console *c, bool on)
{
	if (on)
		uv_poll_start(&c->poll_tty, UV_READABLE, on_tty);
	else
		uv_poll_stop(&c->poll_tty);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct console *c = handle->data;

	if (c->lent && (number == SIGWINCH || number == SIGCONT || number == SIGINT))
		return; /* they are that program's */
	if (number == SIGHUP) {
		console_hang_up(c);
		return;
	}
	if (!c->screen && (number == SIGWINCH || number == SIGCONT))
		return;
	if (number == SIGWINCH) {
		console_resize(c);
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

/* ---- life ----------------------------------------------------------------------------------- */

void console_set_up_loop(struct console *c)
{
	uv_timer_t *const timers[] = {&c->frame, &c->esc, &c->settle, &c->tick, &c->more};

	uv_loop_init(&c->loop);
	for (size_t i = 0; i < ARRAY_LEN(timers); i++) {
		uv_timer_init(&c->loop, timers[i]);
		timers[i]->data = c;
	}
	uv_poll_init(&c->loop, &c->poll_session, c->feed->fd(c));
	if (!c->pty_over)
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
	console_watch_tty(c, true);
	watch_session(c);
	watch_pty(c);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void console_tear_down_loop(struct console *c)
{
	console_end_lent(c);
	api_close(c->api);
	uv_walk(&c->loop, close_handle, NULL);
	uv_run(&c->loop, UV_RUN_DEFAULT);
	uv_loop_close(&c->loop);
}
