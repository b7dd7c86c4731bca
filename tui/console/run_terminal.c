/* run_terminal - the terminal of a run's agent: its output, its input, its clipboard. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"
#include "tui/console/run_priv.h"

#define PUMP_US	 8000	 /* longest time for the agent's output, before input and repaint */
#define DRAIN_US 1000000 /* longest time for output after the end of the session */

static void on_output(void *data, const void *bytes, size_t len)
{
	struct run *r = data;

	tape_input(r->tape, r->host.pty.fd, bytes, len);
	if (!r->pty_over && pty_write(&r->host.pty, bytes, len) < 0)
		host_say(&r->host, "The agent does not read its input: that was dropped.");
}

static void on_bell(void *data)
{
	host_bell(data);
	host_called(data);
}

static void on_call(void *data)
{
	host_called(data);
}

static void on_title(void *data, const char *title)
{
	(void)title; /* drawn with the pane */
	host_schedule(data);
}

/* For the console that was typed on last. */
static void on_clipboard(void *data, const char *text, size_t len)
{
	struct host *h = data;
	const char *may = h->opt->clipboard ? h->opt->clipboard : "deny";
	struct console *c = h->latest;

	if (!c || !c->ui)
		return;
	if (str_eq(may, "allow"))
		ui_copy(c->ui, text, len);
	else if (str_eq(may, "ask"))
		clipboard_request(c->ui, text, len, clock_mono_us());
	console_schedule(c);
}

static const struct term_events term_events = {
	.output = on_output,
	.clipboard = on_clipboard,
	.bell = on_bell,
	.call = on_call,
	.title = on_title,
};

static void on_more(uv_timer_t *timer);

void run_pump(struct run *r)
{
	int left = pty_pump(&r->host.pty, r->host.term, PUMP_US);

	if (term_dirty(r->host.term)) {
		host_printed(&r->host);
		host_schedule(&r->host);
	}
	if (left > 0)
		uv_timer_start(&r->more, on_more, 0, 0);
	if (left < 0) {
		r->pty_over = true;
		uv_poll_stop(&r->poll_pty);
	}
}

static void on_more(uv_timer_t *timer)
{
	struct run *r = timer->data;

	if (!r->pty_over)
		run_pump(r);
}

void run_drain(struct run *r)
{
	int64_t deadline = clock_mono_us() + DRAIN_US;
	int left = r->pty_over ? 0 : 1;

	while (left > 0 && clock_mono_us() < deadline)
		left = pty_pump(&r->host.pty, r->host.term, PUMP_US);
}

static void on_pty(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;

	if (events & UV_WRITABLE)
		pty_flush(&r->host.pty);
	if (status < 0 || events & UV_READABLE)
		run_pump(r);
	run_watch_terminal(r);
}

void run_watch_terminal(struct run *r)
{
	int events = UV_READABLE | (pty_wants_write(&r->host.pty) ? UV_WRITABLE : 0);

	if (!r->pty_over)
		uv_poll_start(&r->poll_pty, events, on_pty);
}

int run_open_terminal(struct run *r, const struct terminal *t, int *ret_slave, struct err *err)
{
	struct layout l = layout_compute(t->w, t->h, PANE_TERMINAL, false, NULL);
	struct rect pane = l.mode == LAYOUT_TOO_SMALL ? (struct rect){0, 0, t->w, t->h}
						      : l.pane[PANE_TERMINAL];
	int w = MAX(pane.w, TERM_MIN), h = MAX(pane.h, TERM_MIN);

	r->host.term = term_new(h, w, &term_events, r);
	return pty_open(&r->host.pty, h, w, ret_slave, err);
}
