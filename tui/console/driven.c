/* driven - consoles on sessions without one of their own (headless, --stdio, serve, mcp). */
/* SPDX-License-Identifier: MIT */
#include "tui/console/driven.h"

#include <string.h>

#include "core/api/engine.h"
#include "core/base/clock.h"
#include "tui/console/console_priv.h"

#define PRINTED_MAX ((size_t)64 << 10)
#define FEED_US	    50000 /* output that takes longer to show is dropped */

/* Shown in place of the agent's terminal. */
#define HERE_ARE "\r\n\r\nHere are its activity, its steps,\r\nand what waits for an answer.\r\n"
static const char driven_by[] = "\033[?25lThis session is driven by another\r\n"
				"program: it has no terminal." HERE_ARE;
static const char headless[] = "\033[?25lThis session has no console of its\r\n"
			       "own: what it prints goes to where it\r\nwas started." HERE_ARE;

struct driven {
	struct host host; /* first */
	struct console_options opt;
	struct ui_verbs verbs;
	char *folder, *state_dir, *home;
	char **folders;
	void (*wake)(void *engine);
	void *engine;
	bool headless;
	struct buf printed; /* newest output, until a terminal shows it */
	int rows, cols;
};

/* Tells the session about its consoles: it loads its history for the first, and expects no answers
 * after the last. */
static void count(struct driven *d)
{
	const struct host *h = &d->host;

	session_attended(h->session, h->consoles != NULL, host_has_human(h, NULL));
}

/* Closes the console: only the front end ends the session. */
static void verb_leave(void *data)
{
	static char words[] = "Left: the session goes on. cordon attach shows it again.\n";

	console_detach(data, words);
}

static void on_left(struct host *h, bool lost)
{
	(void)lost;
	count((struct driven *)h);
}

static void on_heard(struct host *h)
{
	struct driven *d = (struct driven *)h;

	count(d);
	d->wake(d->engine);
}

static void on_closed(struct host *h)
{
	struct driven *d = (struct driven *)h;

	term_free(h->term);
	buf_done(&d->printed);
	free(d->folder);
	free(d->state_dir);
	free(d->home);
	util_free_list(&d->folders);
	free(d);
}

static void *open_it(uv_loop_t *loop, struct session *s, const struct session_spec *spec,
		     void (*wake)(void *engine), void *engine)
{
	struct driven *d = xcalloc(1, sizeof(*d));
	struct host *h = &d->host;

	console_options_set(&d->opt, spec->config);
	d->verbs = console_verbs;
	d->verbs.leave = verb_leave;
	d->verbs.restart = NULL;
	d->verbs.turn = NULL;
	d->verbs.answered = NULL;
	d->folders = util_list_copy(spec->folders);
	d->folder = xstrdup(spec->folders && spec->folders[0] ? spec->folders[0] : spec->cwd);
	d->state_dir = xstrdup(spec->state_dir);
	d->home = xstrdup(spec->home);
	d->wake = wake;
	d->engine = engine;
	d->headless = spec->headless;
	d->printed = (struct buf)BUF_INIT;
	*h = (struct host){.loop = loop,
			   .session = s,
			   .model = session_model(s),
			   .opt = &d->opt,
			   .verbs = &d->verbs,
			   .folder = d->folder,
			   .folders = (const char *const *)d->folders,
			   .state_dir = d->state_dir,
			   .home = d->home,
			   .pty = PTY_INIT,
			   .left = on_left,
			   .heard = on_heard,
			   .closed = on_closed};
	host_open(h);
	return d;
}

/* ---- what the agent prints ------------------------------------------------------------------- */

static void feed(struct driven *d, const char *bytes, size_t len)
{
	if (len)
		(void)term_feed_until(d->host.term, bytes, len, clock_mono_us() + FEED_US);
}

/* Keeps the newest output, from the beginning of a line on. */
static void keep(struct driven *d, const char *bytes, size_t len)
{
	struct buf *b = &d->printed;
	const char *line;

	if (len)
		buf_add(b, bytes, len);
	if (b->len < 2 * PRINTED_MAX)
		return;
	buf_drop_front(b, b->len - PRINTED_MAX);
	line = memchr(b->data, '\n', b->len);
	if (line)
		buf_drop_front(b, (size_t)(line - b->data) + 1);
}

/* Opens the terminal on demand: most sessions end before a console attaches. */
static void open_term(struct driven *d)
{
	const char *words = d->headless ? headless : driven_by;
	struct host *h = &d->host;

	if (h->term)
		return;
	if (h->prints) {
		h->term = term_new(d->rows, d->cols, NULL, NULL);
		feed(d, d->printed.data, d->printed.len);
		buf_done(&d->printed);
		return;
	}
	h->term = term_new(TERM_MIN * 4, 80, NULL, NULL);
	term_feed(h->term, words, strlen(words));
}

static void printed(void *consoles, const char *bytes, size_t len, int rows, int cols)
{
	struct driven *d = consoles;
	struct host *h = &d->host;

	h->prints = true;
	d->rows = rows;
	d->cols = cols;
	if (len)
		host_printed(h);
	if (!h->term) {
		keep(d, bytes, len);
		return;
	}
	term_resize(h->term, rows, cols);
	feed(d, bytes, len);
	host_schedule(h);
}

static void take(void *consoles, int fd)
{
	open_term(consoles);
	host_take(consoles, fd);
	count(consoles);
}

static void changed(void *consoles)
{
	host_changed(consoles);
}

static void tick(void *consoles)
{
	struct host *h = consoles;

	count(consoles);
	if (host_has_human(h, NULL)) /* a user sees the sandbox's resources */
		session_tick(h->session);
	host_tick(h);
}

static bool has_human(void *consoles)
{
	return host_has_human(consoles, NULL);
}

static void close_it(void *consoles)
{
	struct host *h = consoles;
	const struct model *m = h->model;

	host_stop(h);
	host_end(h, &(struct ending){.status = m->exited ? util_exit_code(m->wait_status) : 0});
}

void driven_consoles(void)
{
	static const struct engine_consoles ops = {.open = open_it,
						   .take = take,
						   .changed = changed,
						   .printed = printed,
						   .tick = tick,
						   .has_human = has_human,
						   .close = close_it};

	engine_set_consoles(&ops);
}
