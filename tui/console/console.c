/* console - one client's console: frames from its connection in, frames of its screen out. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/console_priv.h"

#define FRAME_MS 16 /* least time between two repaints */
#define ESC_MS	 25 /* time after which a lone Esc is the key */
#define UNREAD_MAX                                                                                 \
	((size_t)256 << 10) /* unread bytes of a client's frames, at which no new one is made */
#define PATIENCE_MS  512    /* longest time between two checks of such a client */
#define CONSOLES_MAX 32
#define OUTPUT_MAX   (1u << 20) /* bytes of one frame */
#define FINISH_US    500000	/* for the last frames of a console that ends */
#define STALLED_US   1000000	/* a client that has not read for so long is hardly waited for */

/* ---- painting ------------------------------------------------------------------------------- */

/* Sets the title: program and open requests, for the terminal's tab and list of windows. */
static void tell_title(struct console *c)
{
	const struct model *m = c->host->model;
	AUTO_BUF struct buf title = BUF_INIT;
	const char *command = m->command ? m->command : "";
	size_t len = strcspn(command, " ");
	AUTO_FREE char *program = xstrndup(command, len);
	const char *base = path_base(program);

	buf_str(&title, "cordon");
	if (*base) {
		buf_str(&title, ": ");
		text_escape(&title, base, MIN(strlen(base), (size_t)64));
	}
	if (m->n_asks)
		buf_fmt(&title, " - ? %zu waiting", m->n_asks);
	else if (m->agent_asks && !m->exited)
		buf_str(&title, " - ? asks");
	screen_title(c->screen, title.data);
}

static bool is_painted(const struct console *c)
{
	return c->ui && c->screen && !c->lent && !c->closing && !c->host->leaving;
}

static void on_frame(uv_timer_t *timer);

/* Returns true if the client is behind with reading: a later frame will have all changes. */
static bool must_wait(struct console *c)
{
	if (frames_unread(&c->line) < UNREAD_MAX) {
		c->patience_ms = 1;
		c->stalled_us = 0;
		return false;
	}
	if (!c->stalled_us)
		c->stalled_us = clock_mono_us();
	c->patience_ms = MIN(MAX(c->patience_ms, (uint64_t)1) * 2, (uint64_t)PATIENCE_MS);
	uv_timer_start(&c->frame, on_frame, c->patience_ms, 0);
	return true;
}

static void on_frame(uv_timer_t *timer)
{
	struct console *c = timer->data;
	int64_t now = clock_mono_us();

	if (!is_painted(c) || must_wait(c))
		return;
	if (c->torn)
		screen_redraw(c->screen);
	c->torn = false;
	ui_draw(c->ui, &c->surface, now);
	/* After a key there may be nothing to show yet: the next frame has its echo. */
	if (screen_draw(c->screen, &c->surface)) {
		c->painted_us = clock_mono_us();
		c->hurry = false;
	}
	tell_title(c);
	if (c->ui->wake_us)
		uv_timer_start(&c->frame, on_frame,
			       (uint64_t)(MAX((int64_t)0, c->ui->wake_us - now) / 1000 + 1), 0);
}

/* Schedules a repaint: at once if the last frame is old enough. */
void console_schedule(struct console *c)
{
	int64_t since = (clock_mono_us() - c->painted_us) / 1000;
	uint64_t wait = since >= FRAME_MS || c->hurry ? 0 : (uint64_t)(FRAME_MS - since);

	if (!is_painted(c) || c->stalled_us)
		return;
	if (uv_is_active((uv_handle_t *)&c->frame) && uv_timer_get_due_in(&c->frame) <= wait)
		return;
	uv_timer_start(&c->frame, on_frame, wait, 0);
}

/* Sends lines as fast as the client reads them; the model keeps the rest. */
static void tell_plain(struct console *c)
{
	AUTO_BUF struct buf lines = BUF_INIT;

	while (frames_unread(&c->line) < UNREAD_MAX &&
	       (plain_tell(c->plain, c->host->model, UNREAD_MAX, &lines) || lines.len)) {
		frames_send(&c->line, FRAME_OUTPUT, lines.data, lines.len);
		buf_clear(&lines);
	}
}

void console_changed(struct console *c)
{
	if (c->plain)
		tell_plain(c);
	else if (c->ui)
		ui_changed(c->ui);
}

static void console_resize(struct console *c, int w, int h)
{
	screen_resize(c->screen, w, h);
	surface_resize(&c->surface, w, h);
	(void)ui_resize(c->ui, w, h);
	host_settle(c->host);
	console_schedule(c);
}

/* Sets the default colours of the agent's terminal: the theme's, else those of the user's terminal.
 * With several consoles, those of the one whose size the agent's terminal has. */
void console_tell_colors(struct console *c)
{
	struct style st = c->theme.roles[ROLE_TERMINAL];

	if (c->screen && screen_depth(c->screen) == DEPTH_TRUE)
		theme_tint(&c->theme, c->own_color[1]);
	if (c->host->term && c->host->latest == c)
		term_set_colors(c->host->term, st.fg ? st.fg : c->own_color[0],
				st.bg ? st.bg : c->own_color[1]);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void on_esc(uv_timer_t *timer);

static void hear_event(struct console *c, const struct event *ev)
{
	bool typed = ev->type != EVENT_FOCUS && ev->type != EVENT_COLOR;

	if (typed)
		host_typed(c);
	/* Not every terminal reports the focus; a key means that the user is there. */
	c->away = ev->type == EVENT_FOCUS ? !ev->focused : c->away && ev->type != EVENT_KEY;
	c->hurry |= ev->type == EVENT_KEY;
	if (ev->type == EVENT_COLOR) {
		c->own_color[ev->background] = ev->color;
		console_tell_colors(c);
	} else {
		ui_event(c->ui, ev, clock_mono_us());
	}
}

/* Leaves after the page of the undo is closed, unless a newer message must be read. */
static void check_errand(struct console *c)
{
	if (!c->errand || c->closing || c->host->leaving || c->ui->n_popups)
		return;
	c->errand = false;
	if (c->ui->n_said == c->errand_said)
		console_detach(c, NULL);
}

static void drain_input(struct console *c)
{
	struct event ev;

	while (!c->closing && !c->host->leaving && input_next(&c->input, &ev))
		hear_event(c, &ev);
	check_errand(c);
	if (c->closing || c->host->leaving)
		return;
	if (input_pending(&c->input))
		uv_timer_start(&c->esc, on_esc, ESC_MS, 0);
	host_settle(c->host);
	if (c->host->heard)
		c->host->heard(c->host);
	console_schedule(c);
}

/* Takes a lone Esc for the key. */
static void end_esc(uv_timer_t *timer)
{
	struct console *c = timer->data;

	input_flush(&c->input);
	drain_input(c);
}

/* Lets the loop read first: after a stall the rest of an arrow key may be there, and a loop runs
 * its timers before it polls. */
static void on_esc(uv_timer_t *timer)
{
	uv_timer_start(timer, end_esc, 1, 0);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void to_client(void *data, const char *bytes, size_t len)
{
	struct console *c = data;
	int r = 0;

	for (size_t at = 0; !c->lent && r == 0 && at < len; at += OUTPUT_MAX)
		r = frames_send(&c->line, FRAME_OUTPUT, bytes + at,
				MIN(len - at, (size_t)OUTPUT_MAX));
	if (r == -ENOBUFS) /* the terminal has a part of it */
		c->torn = true;
}

static int open_screen(struct console *c, struct err *err)
{
	int r = screen_open(&c->screen,
			    &(struct screen_options){.mouse = c->opt->mouse,
						     .terminal = &c->terminal,
						     .send = to_client,
						     .data = c},
			    err);

	if (r < 0)
		return r;
	r = theme_load(&c->theme, c->opt->theme ? c->opt->theme : "default", &c->where,
		       screen_depth(c->screen), err);
	if (r < 0)
		return r;
	surface_init(&c->surface, c->terminal.w, c->terminal.h);
	c->surface.roles = c->theme.roles;
	c->surface.ascii = c->opt->ascii || screen_wants_ascii(c->screen);
	return 0;
}

static void open_ui(struct console *c)
{
	struct host *h = c->host;

	c->verbs = *h->verbs;
	if (c->terminal.read_only)
		console_look_on(&c->verbs);
	c->ui = ui_new(&(struct ui_spec){
		.model = h->model,
		.keymap = c->keymap,
		.term = h->term,
		.verbs = &c->verbs,
		.read_only = c->terminal.read_only,
		.data = c,
		.folder = h->folder,
		.folders = h->folders,
		.state_dir = h->state_dir,
		.mouse = c->opt->mouse,
		.agent = h->quiet,
		.still = c->opt->still,
		.headless = h->pty.fd < 0 && !h->replay,
		.prints = h->prints,
		.replay = h->replay,
		.board = h->board,
	});
	c->ui->now_us = clock_mono_us();
	(void)ui_resize(c->ui, c->surface.w, c->surface.h);
	c->ui->over = h->replay != NULL; /* only the recording can end */
	if (h->quiet)
		view_audit_quiet(c->ui->panes[PANE_AUDIT]);
	if (!c->terminal.read_only)
		h->latest = c;
	console_tell_colors(c);
	ui_changed(c->ui);
	c->errand = c->terminal.undo && !c->terminal.read_only;
	c->errand_said = c->ui->n_said;
	if (c->errand)
		ui_undo_turn(c->ui);
	host_settle(h);
	console_schedule(c);
}

/* Returns whether the host has the most consoles it may have. */
static bool is_full(const struct host *h)
{
	size_t n = 0;

	for (const struct console *c = h->consoles; c; c = c->next)
		n += c->greeted;
	return n > CONSOLES_MAX;
}

int console_greet(struct console *c, const struct terminal *t, struct err *err)
{
	AUTO_BUF struct buf copy = BUF_INIT;
	int r;

	terminal_put(t, &copy);
	r = terminal_get(&c->terminal, &(struct span){copy.data, copy.len});
	c->greeted = true;
	if (r == 0 && is_full(c->host))
		r = err_say(err, -EUSERS, "too many consoles show this session: close some");
	if (r == 0 && t->plain) {
		c->plain = plain_new();
		console_changed(c);
		return 0;
	}
	if (r == 0)
		r = console_load_look(c, err);
	if (r == 0)
		r = open_screen(c, err);
	if (r == 0)
		open_ui(c);
	return r;
}

static void hear_hello(struct console *c, const struct span *data)
{
	struct err err = {0};
	struct terminal t = {0};
	int r = c->greeted ? -EPROTO : terminal_get(&t, data);

	if (r < 0)
		err_say(&err, r, "the client's greeting is not understood");
	else
		r = console_greet(c, &t, &err);
	terminal_done(&t);
	if (r < 0)
		console_end(c,
			    &(struct ending){.status = 125, .detached = true, .error = err.text});
	else if (c->host->heard) /* a user may be there */
		c->host->heard(c->host);
}

/* ---- frames of the client -------------------------------------------------------------------- */

static bool get(const struct frame *f, void *out, size_t size)
{
	if (f->data.len != size)
		return false;
	memcpy(out, f->data.data, size);
	return true;
}

static void hear_size(struct console *c, const struct frame *f, bool resumed)
{
	struct frame_size size;

	if (!get(f, &size, sizeof(size)) || size.w < 1 || size.h < 1)
		return;
	if (resumed && !c->lent)
		screen_resume(c->screen);
	console_resize(c, MIN((int)size.w, TERMINAL_MAX), MIN((int)size.h, TERMINAL_MAX));
}

static void hear_frame(struct console *c, const struct frame *f)
{
	int number;

	if (f->type == FRAME_HELLO)
		hear_hello(c, &f->data);
	else if (!c->ui)
		return;
	else if (f->type == FRAME_INPUT && !c->lent) {
		uv_timer_stop(&c->esc);
		input_feed(&c->input, f->data.data, f->data.len);
		drain_input(c);
	} else if (f->type == FRAME_SIZE || f->type == FRAME_RESUMED) {
		hear_size(c, f, f->type == FRAME_RESUMED);
	} else if (f->type == FRAME_RAN && get(f, &number, sizeof(number))) {
		console_lent_ended(c, number);
	} else if (f->type == FRAME_SIGNAL && c->starter && get(f, &number, sizeof(number)) &&
		   (number == SIGTERM || number == SIGINT)) {
		c->host->killed_by = number;
		host_leave(c->host);
	}
}

static void console_close(struct console *c);

static void on_line(uv_poll_t *poll, int status, int events);

static void watch_line(struct console *c)
{
	if (!c->closing)
		uv_poll_start(&c->poll,
			      UV_READABLE | (frames_wants_write(&c->line) ? UV_WRITABLE : 0),
			      on_line);
}

static void on_line(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;
	struct host *h = c->host;
	struct frame f;
	int r = 0;

	if (events & UV_WRITABLE)
		r = frames_flush(&c->line);
	if (r == 0 && (status < 0 || events & UV_READABLE))
		r = frames_fill(&c->line);
	while (!c->closing && !h->leaving && r == 0 && (r = frames_next(&c->line, &f)) > 0) {
		hear_frame(c, &f);
		r = 0;
	}
	if (c->closing)
		return;
	if (r < 0 && r != -EAGAIN) {
		console_close(c);
		h->left(h, true);
		return;
	}
	watch_line(c);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void on_handle_closed(uv_handle_t *handle)
{
	struct console *c = handle->data;

	if (--c->handles)
		return;
	ui_free(c->ui);
	plain_free(c->plain);
	console_split_abandon(c);
	screen_close(c->screen);
	input_done(&c->input);
	surface_done(&c->surface);
	keymap_free(c->keymap);
	terminal_done(&c->terminal);
	frames_close(&c->line);
	free(c->config_dir);
	free(c->theme_name);
	free(c);
}

struct console *console_open(struct host *h, struct frames *line)
{
	struct console *c = xcalloc(1, sizeof(*c));

	c->host = h;
	c->opt = h->opt;
	c->line = *line;
	*line = (struct frames){.fd = -1, .in = BUF_INIT, .out = BUF_INIT};
	input_init(&c->input);
	c->handles = 3;
	uv_poll_init(h->loop, &c->poll, c->line.fd);
	uv_timer_init(h->loop, &c->frame);
	uv_timer_init(h->loop, &c->esc);
	c->poll.data = c->frame.data = c->esc.data = c;
	c->next = h->consoles;
	h->consoles = c;
	watch_line(c);
	return c;
}

/* Closes the handles; the loop frees the console later, because its views may be on the stack. */
static void console_close(struct console *c)
{
	struct host *h = c->host;

	if (c->closing)
		return;
	c->closing = true;
	for (struct console **at = &h->consoles; *at; at = &(*at)->next) {
		if (*at == c) {
			*at = c->next;
			break;
		}
	}
	if (h->latest == c)
		h->latest = h->consoles;
	while (h->latest && h->latest->terminal.read_only)
		h->latest = h->latest->next;
	if (h->latest && h->latest->ui)
		console_tell_colors(h->latest);
	host_settle(h);
	uv_close((uv_handle_t *)&c->poll, on_handle_closed);
	uv_close((uv_handle_t *)&c->frame, on_handle_closed);
	uv_close((uv_handle_t *)&c->esc, on_handle_closed);
}

/* Restores the terminal. The caller sends the last frame and waits until the client has read
 * all. */
static void give_back(struct console *c)
{
	if (c->lent)
		frames_send(&c->line, FRAME_STOP_RUN, NULL, 0);
	screen_close(take_ptr(&c->screen));
	frames_send(&c->line, FRAME_CLOSE, NULL, 0);
}

void console_end(struct console *c, const struct ending *end)
{
	AUTO_BUF struct buf bytes = BUF_INIT;

	if (c->closing)
		return;
	if (c->screen)
		give_back(c);
	ending_put(end, &bytes);
	frames_send(&c->line, FRAME_END, bytes.data, bytes.len);
	frames_finish(&c->line, clock_mono_us() + FINISH_US);
	console_close(c);
}

static void end_plain(struct console *c)
{
	static const char over[] = "The session has ended.\n";

	tell_plain(c);
	frames_send(&c->line, FRAME_OUTPUT, over, sizeof(over) - 1);
}

struct frames console_take_line(struct console *c)
{
	struct frames l;

	if (c->plain)
		end_plain(c);
	if (c->screen)
		give_back(c);
	ui_free(take_ptr(&c->ui));
	l = c->line;
	l.stalled = c->stalled_us && clock_mono_us() - c->stalled_us > STALLED_US;
	c->line = (struct frames){.fd = -1, .in = BUF_INIT, .out = BUF_INIT};
	console_close(c);
	return l;
}
