/* host - the consoles of one session, and what they share: the agent's terminal, calls for the
 * user. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "tui/console/console_priv.h"
#include "tui/console/pipe_command.h"

#define SETTLE_MS  50	    /* after a resize has rested so long, the agent's terminal follows */
#define SECOND_MS  1000	    /* host_tick() */
#define ALERT_US   10000000 /* least time between two notifications */
#define TYPING_US  1000000  /* a bell so soon after a key is a reaction to it */
#define ECHO_US	   300000   /* output so soon after a key is the key's echo */
#define FINISH_US  1000000  /* for unread bytes of slow clients at the end */
#define STALLED_US 5000000  /* a client that reads nothing for so long decides no size */

/* ---- the agent's terminal -------------------------------------------------------------------- */

static bool is_stalled(const struct console *c)
{
	return c->stalled_us && clock_mono_us() - c->stalled_us > STALLED_US;
}

/* Returns the console whose size the agent's terminal has: the one that was typed on last. */
static struct console *leader(struct host *h)
{
	if (h->latest && !is_stalled(h->latest))
		return h->latest;
	for (struct console *c = h->consoles; c; c = c->next)
		if (c->ui && !c->terminal.read_only && !is_stalled(c))
			return c;
	return h->latest;
}

static void on_settle(uv_timer_t *timer)
{
	struct host *h = timer->data;
	struct console *c = leader(h);
	struct rect pane;

	if (!c || !c->ui || !h->term || h->replay || h->pty.fd < 0)
		return;
	pane = ui_agent_pane(c->ui);
	if (pane.w == h->pane_w && pane.h == h->pane_h)
		return;
	h->pane_w = pane.w;
	h->pane_h = pane.h;
	term_resize(h->term, MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN));
	pty_resize(&h->pty, MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN));
	if (h->resized)
		h->resized(h, MAX(pane.w, TERM_MIN), MAX(pane.h, TERM_MIN));
	host_schedule(h);
}

void host_settle(struct host *h)
{
	if (!h->leaving)
		uv_timer_start(&h->settle, on_settle, SETTLE_MS, 0);
}

void host_typed(struct console *c)
{
	struct host *h = c->host;

	if (c->terminal.read_only)
		return;
	h->typed_us = clock_mono_us();
	if (h->latest == c)
		return;
	h->latest = c;
	console_tell_colors(c);
	host_settle(h);
}

void host_printed(struct host *h)
{
	int64_t now = clock_mono_us();

	if (now - h->typed_us > ECHO_US)
		h->model->printed_us = now;
}

bool host_has_human(const struct host *h, const struct console *but)
{
	for (const struct console *c = h->consoles; c; c = c->next)
		if (c != but && c->greeted && !c->plain && !c->terminal.read_only)
			return true;
	return false;
}

/* ---- all consoles ---------------------------------------------------------------------------- */

void host_say(struct host *h, const char *fmt, ...)
{
	char words[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	for (struct console *c = h->consoles; c; c = c->next) {
		if (!c->ui)
			continue;
		c->ui->now_us = clock_mono_us();
		ui_say(c->ui, "%s", words);
	}
	host_schedule(h);
}

void host_schedule(struct host *h)
{
	for (struct console *c = h->consoles; c; c = c->next)
		console_schedule(c);
}

/* Alerts the user once for the newest request, also without a console. */
static void call_for_answers(struct host *h)
{
	const struct model *m = h->model;
	int64_t now = clock_mono_us();

	if (!m->n_asks || m->headless || m->asks[m->n_asks - 1].id <= h->ask_seen)
		return;
	h->ask_seen = m->asks[m->n_asks - 1].id;
	if (h->alerted_us && now - h->alerted_us < ALERT_US)
		return;
	h->alerted_us = now;
	host_notify(h, "something waits for your answer");
}

/* Alerts the user once for a question in the agent's own terminal. */
static void call_for_agent(struct host *h)
{
	bool asks = h->model->agent_asks && !h->model->exited;

	if (asks && !h->agent_asked) {
		host_bell(h);
		if (host_is_away(h))
			host_notify(h, "the agent asks you");
	}
	h->agent_asked = asks;
}

void host_changed(struct host *h)
{
	for (struct console *c = h->consoles, *next; c; c = next) {
		next = c->next;
		console_changed(c);
	}
	call_for_answers(h);
	call_for_agent(h);
	host_schedule(h);
}

/* Notifies the user if the agent has answered the last line and has printed nothing for a while. */
static void look_for_rest(struct host *h)
{
	if (!h->sent_us || h->model->printed_us < h->sent_us ||
	    !str_eq(model_state(h->model), "idle"))
		return;
	h->sent_us = 0;
	if (host_is_away(h))
		host_notify(h, "the agent has finished, or waits for you");
}

/* Sets model.agent_asks while the agent's screen shows a menu. Two looks find it, as the agent may
 * have drawn a half of its screen; none counts while the user types. */
static void look_for_menu(struct host *h)
{
	const struct model *m = h->model;
	bool asks, typing = clock_mono_us() - h->typed_us < TYPING_US;
	bool others = h->menu_change != m->asks_changes; /* asked last, as a hook does */

	if (!h->session || !h->term || m->exited || typing)
		return;
	h->menu_looks = term_shows_menu(h->term) ? h->menu_looks + 1 : 0;
	asks = h->menu_looks > 1;
	if (asks == m->agent_asks || (m->agent_asks && others))
		return;
	h->agent_asked = asks && !host_is_away(h); /* no bell for who sees it */
	session_agent_asks(h->session, asks);
	h->menu_change = m->asks_changes;
	host_changed(h);
}

void host_tick(struct host *h)
{
	for (struct console *c = h->consoles; c; c = c->next) {
		console_watch_look(c);
		if (c->ui)
			ui_tick(c->ui);
		if (c->plain) /* the client may have read */
			console_changed(c);
	}
	if (h->latest && is_stalled(h->latest))
		host_settle(h);
	look_for_menu(h);
	look_for_rest(h);
	host_schedule(h);
}

/* ---- calls for the human --------------------------------------------------------------------- */

bool host_is_away(const struct host *h)
{
	for (const struct console *c = h->consoles; c; c = c->next)
		if (!c->away && !c->plain)
			return false;
	return true;
}

void host_bell(struct host *h)
{
	for (struct console *c = h->consoles; c; c = c->next)
		if (c->ui)
			h->verbs->bell(c);
}

#define DESKTOP "exec notify-send -a cordon -- cordon \"$(cat)\""

/* The words are cordon's alone: no text of the agent reaches a terminal or a command this way. */
void host_notify(struct host *h, const char *words)
{
	const char *by = h->opt->notify ? h->opt->notify : "terminal";
	const char *command = str_eq(by, "desktop")   ? DESKTOP
			      : str_eq(by, "command") ? h->opt->notify_command
						      : NULL;
	AUTO_FREE char *line = xasprintf("cordon: %s", words);
	struct err err = {0};

	if (command && *command) {
		if (pipe_command(command, "console.notify", words, strlen(words), &err) < 0)
			host_say(h, "%s", err.text);
		return;
	}
	for (struct console *c = h->consoles; c; c = c->next)
		if (c->screen && !c->lent)
			screen_notify(c->screen, line);
}

void host_called(struct host *h)
{
	int64_t now = clock_mono_us();

	if (h->session && !h->model->hook_asks && now - h->typed_us > TYPING_US) {
		h->agent_asked = true; /* the agent's own call */
		session_agent_asks(h->session, true);
		host_changed(h);
	}
	if (!host_is_away(h) || (h->called_us && now - h->called_us < ALERT_US))
		return;
	h->called_us = now;
	h->sent_us = 0;
	host_notify(h, "the agent calls you");
}

/* ---- life ------------------------------------------------------------------------------------ */

void host_open(struct host *h)
{
	uv_timer_init(h->loop, &h->settle);
	h->settle.data = h;
	h->open = 1;
}

void host_release(struct host *h)
{
	if (--h->open == 0 && h->closed)
		h->closed(h);
}

static void on_settle_closed(uv_handle_t *handle)
{
	host_release(handle->data);
}

void host_leave(struct host *h)
{
	h->leaving = true;
	uv_stop(h->loop);
}

void host_take(void *host, int fd)
{
	struct host *h = host;
	struct frames line;

	frames_open(&line, fd);
	if (h->leaving)
		frames_close(&line);
	else
		console_open(h, &line);
}

void host_keep_line(struct host *h, struct frames *line)
{
	h->lines = xrealloc(h->lines, (h->n_lines + 1) * sizeof(*h->lines));
	h->lines[h->n_lines++] = *line;
	*line = (struct frames){.fd = -1, .in = BUF_INIT, .out = BUF_INIT};
}

void host_stop(struct host *h)
{
	h->leaving = true;
	while (h->consoles) {
		struct frames line = console_take_line(h->consoles);

		host_keep_line(h, &line);
	}
	uv_close((uv_handle_t *)&h->settle, on_settle_closed);
}

void host_tell_leaving(struct host *h, const char *words)
{
	for (size_t i = 0; i < h->n_lines; i++)
		frames_send(&h->lines[i], FRAME_SAY, words, strlen(words));
}

void host_end(struct host *h, const struct ending *end)
{
	const int64_t until = clock_mono_us() + FINISH_US;
	AUTO_BUF struct buf bytes = BUF_INIT;

	ending_put(end, &bytes);
	for (size_t i = 0; i < h->n_lines; i++)
		frames_send(&h->lines[i], FRAME_END, bytes.data, bytes.len);
	for (size_t i = 0; i < h->n_lines; i++) {
		frames_finish(&h->lines[i], until);
		frames_close(&h->lines[i]);
	}
	free(h->lines);
	h->lines = NULL;
	h->n_lines = 0;
}

/* ---- a loop of its own ----------------------------------------------------------------------- */

static void on_second(uv_timer_t *timer)
{
	host_tick(timer->data);
}

static void leave_with_it(struct host *h, bool lost)
{
	(void)lost;
	host_leave(h);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void host_close_loop(struct host *h)
{
	uv_walk(h->loop, close_handle, NULL);
	uv_run(h->loop, UV_RUN_DEFAULT);
	uv_loop_close(h->loop);
}

static int run_loop(struct host *h, struct frames *line, const struct terminal *terminal,
		    int (*begin)(struct host *h, struct err *err), struct err *err)
{
	struct console *c;
	int r = terminal_check("--headless", err);

	if (r < 0)
		return r;
	uv_loop_init(h->loop);
	host_open(h);
	uv_timer_init(h->loop, &h->second);
	h->second.data = h;
	uv_timer_start(&h->second, on_second, SECOND_MS, SECOND_MS);
	c = console_open(h, line);
	c->starter = true;
	r = console_greet(c, terminal, err);
	if (r == 0 && begin)
		r = begin(h, err);
	if (r == 0)
		uv_run(h->loop, UV_RUN_DEFAULT);
	host_stop(h);
	host_close_loop(h);
	return r;
}

void host_run(struct host *h, struct frames *line, const struct terminal *terminal,
	      int (*begin)(struct host *h, struct err *err))
{
	struct ending end = {0};
	struct err err = {0};

	if (!h->left)
		h->left = leave_with_it;
	end.status = run_loop(h, line, terminal, begin, &err) < 0 ? 125
		     : h->killed_by				  ? 128 + h->killed_by
								  : 0;
	end.error = err.code ? err.text : NULL;
	if (line->fd >= 0)
		host_keep_line(h, line);
	host_end(h, &end);
}
