/* run - the host of a run: its session, the agent's terminal, the recording, one loop for all. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/api/socket/api.h"
#include "core/api/approver.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "tui/console/run_priv.h"
#include "tui/console/kept_answers.h"
#include "tui/console/start.h"

#define TICK_MS 1000

static const int signal_numbers[N_SIGNALS] = {SIGTERM, SIGHUP, SIGINT};

/* ---- the session ---------------------------------------------------------------------------- */

static void on_exited(void *data, int wait_status)
{
	struct run *r = data;

	(void)wait_status;
	if (host_is_away(&r->host) && host_has_human(&r->host, NULL))
		host_notify(&r->host, "the agent has ended");
	if (r->host.opt->exit_at_end || (r->running && !host_has_human(&r->host, NULL)))
		host_leave(&r->host);
}

static void on_failed(void *data, int status, const char *words)
{
	struct host *h = data;

	h->failed = status;
	text_escape_into(h->words, sizeof(h->words), words, strlen(words));
	host_leave(h);
}

/* Prints on the terminal, until there is a screen; after that on the status line. */
static void on_stopped(void *data, const char *words)
{
	struct host *h = data;
	AUTO_BUF struct buf shown = BUF_INIT;

	if (((struct run *)data)->running) {
		text_escape(&shown, words, strlen(words));
		host_say(h, "x %s", shown.data);
		return;
	}
	text_escape_into(h->words, sizeof(h->words), words, strlen(words));
	host_tell_leaving(h, h->words);
	fprintf(stderr, "cordon: %s\n", h->words);
}

/* Answers questions that were answered before the restart, before they are shown. One at a time:
 * each answer changes the list, and leads to another call. */
static bool answer_again(struct run *r)
{
	const struct model *m = r->host.model;
	struct err err = {0};
	struct answer a;

	for (size_t i = 0; m && i < m->n_asks; i++) {
		const struct ask *ask = &m->asks[i];

		if (ask->id <= r->kept_seen || !kept_answers_find(r->kept, ask, &a))
			continue;
		r->kept_seen = ask->id;
		if (session_answer(r->host.session, "console, before the restart", ask->id, &a,
				   &err) == 0)
			return true;
	}
	return false;
}

static void on_changed(void *data)
{
	struct run *r = data;

	if (r->host.model)
		tape_news(r->tape, r->host.model);
	if (!r->running || answer_again(r))
		return;
	api_changed(r->api);
	approver_changed(r->approver);
	host_changed(&r->host);
}

static void on_restart(void *data)
{
	struct host *h = data;

	h->again = true;
	host_leave(h);
}

static bool on_secret(void *data, const char *text)
{
	return tape_secret(((struct run *)data)->tape, text);
}

static const struct session_listener listener = {
	.secret = on_secret,
	.changed = on_changed,
	.exited = on_exited,
	.stopped = on_stopped,
	.frozen = on_stopped,
	.failed = on_failed,
	.restart = on_restart,
};

static void watch_session(struct run *r);

/* Ends the host: there will be no rows after the keeper's end. */
static void lose_session(struct run *r, int result)
{
	static const char gone[] = "x The sandbox's keeper has ended: nothing can change any more.";

	r->host.over = true;
	uv_poll_stop(&r->poll_session);
	if (!r->host.model->exited && !r->host.failed) {
		host_say(&r->host, "%s", gone);
		log_error("console", "%s: %d", gone, result);
	}
	if (!host_has_human(&r->host, NULL)) /* no user to read it */
		host_leave(&r->host);
	host_schedule(&r->host);
}

/* Reads the terminal first, so that in the recording output comes before a later row: one read
 * returns everything written so far. */
static void on_session(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;
	int result;

	if (!r->pty_over && events & UV_READABLE)
		run_pump(r);
	result = session_ready(r->host.session, status < 0 || events & UV_READABLE,
			       events & UV_WRITABLE);
	if (result < 0 || status < 0)
		lose_session(r, result);
	else
		watch_session(r);
}

static void watch_session(struct run *r)
{
	int events = UV_READABLE | (session_wants_write(r->host.session) ? UV_WRITABLE : 0);

	if (!r->host.over)
		uv_poll_start(&r->poll_session, events, on_session);
}

/* An approver that has ended has no descriptor to poll. */
static void on_approver(uv_poll_t *poll, int status, int events)
{
	struct run *r = poll->data;

	(void)status;
	(void)events;
	approver_ready(r->approver);
	if (approver_fd(r->approver) < 0)
		uv_poll_stop(poll);
	watch_session(r);
}

static void on_resized(struct host *h, int w, int height)
{
	tape_resize(((struct run *)h)->tape, w, height);
}

/* ---- consoles that come and go -------------------------------------------------------------- */

static void on_heard(struct host *h)
{
	run_watch_terminal((struct run *)h);
	watch_session((struct run *)h);
}

/* Called after the last console: the session continues, or ends with a lost client
 * (console.on-hangup). */
static void on_left(struct host *h, bool lost)
{
	static const char goes_on[] = "the terminal closed: the session goes on without a console "
				      "(cordon attach shows it)";

	if (host_has_human(h, NULL) || h->leaving)
		return;
	if (h->model->exited || h->over || (lost && !h->opt->detach)) {
		if (!h->model->exited && !h->over)
			session_note(h->session, "the terminal closed: the session ends "
						 "(console.on-hangup = end)");
		h->killed_by = lost ? SIGHUP : 0;
		host_leave(h);
		return;
	}
	session_note(h->session,
		     lost ? goes_on : "detached: the session goes on without a console");
	if (lost)
		host_notify(h, goes_on);
}

/* Ends the session from `cordon board`; those who may answer may end it. */
static void on_end(void *data, const char *by)
{
	struct host *h = data;
	AUTO_FREE char *words = xasprintf("ended from a %s", by);

	session_note(h->session, words);
	host_leave(h);
}

static void open_api(struct run *r)
{
	AUTO_FREE char *dir = api_dir(r->host.state_dir);
	struct err err = {0};

	if (api_open(&r->api, &r->loop, r->host.session, dir, &err) < 0)
		host_say(&r->host, "Other terminals cannot answer for this session: %s", err.text);
	api_consoles(r->api, host_take, r);
	api_ends(r->api, on_end, r);
}

/* ---- the recording -------------------------------------------------------------------------- */

/* Starts the recording; a failure is reported, and the session runs without one. */
static void open_tape(struct run *r)
{
	struct err err = {0};

	r->host.pty.tap = tape_output;
	r->host.pty.tap_data = r->tape;
	if (tape_open(r->tape, r->host.state_dir, r->host.model, r->host.term, &err) < 0)
		host_say(&r->host, "This session is not recorded: %s", err.text);
}

/* Reports a gap in the recording: in a message, in the activity, and in the audit log. */
static void note_tape(struct run *r, const char *what, const char *why)
{
	AUTO_FREE char *words = xasprintf("%s%s", what, why);

	host_say(&r->host, "%s.", words);
	session_note(r->host.session, words);
}

static void on_tick(uv_timer_t *timer)
{
	struct run *r = timer->data;
	AUTO_FREE char *failed = tape_failure(r->tape);

	if (failed)
		note_tape(r, "the recording has ended: ", failed);
	if (tape_is_thinned(r->tape))
		note_tape(r,
			  "the recording is long: from here on it has the screen once a second, "
			  "and every event",
			  "");
	if (tape_is_waiting(r->tape))
		note_tape(r, "the disk is full: the recording waits until it has space", "");
	session_tick(r->host.session);
	host_tick(&r->host);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* SIGHUP is the client's: this process has no terminal. */
static void on_signal(uv_signal_t *handle, int number)
{
	struct host *h = handle->data;

	if (number == SIGHUP && h->opt->detach)
		return;
	h->killed_by = number;
	host_leave(h);
}

static void open_loop(struct run *r)
{
	uv_timer_t *const timers[] = {&r->tick, &r->more};

	uv_loop_init(&r->loop);
	host_open(&r->host);
	for (size_t i = 0; i < ARRAY_LEN(timers); i++) {
		uv_timer_init(&r->loop, timers[i]);
		timers[i]->data = r;
	}
	uv_poll_init(&r->loop, &r->poll_session, session_fd(r->host.session));
	uv_poll_init(&r->loop, &r->poll_pty, r->host.pty.fd);
	r->poll_session.data = r->poll_pty.data = r->poll_approver.data = r;
	if (r->approver) {
		uv_poll_init(&r->loop, &r->poll_approver, approver_fd(r->approver));
		uv_poll_start(&r->poll_approver, UV_READABLE, on_approver);
	}
	for (size_t i = 0; i < N_SIGNALS; i++) {
		uv_signal_init(&r->loop, &r->signals[i]);
		r->signals[i].data = r;
		uv_signal_start(&r->signals[i], on_signal, signal_numbers[i]);
	}
	uv_timer_start(&r->tick, on_tick, TICK_MS, TICK_MS);
	watch_session(r);
	run_watch_terminal(r);
}

/* Waits for jobs in progress, which were told to stop with their views. */
static void close_loop(struct run *r)
{
	host_stop(&r->host);
	api_close(r->api);
	host_close_loop(&r->host);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int exit_status(const struct host *h)
{
	int st = h->model->wait_status;

	if (h->failed)
		return h->failed;
	if (h->killed_by)
		return 128 + h->killed_by;
	if (!h->model->exited)
		return 128 + SIGTERM; /* ended by the user */
	return util_exit_code(st);
}

/* Blocks the signals that end the session while it starts and ends: its loop handles them; the
 * default action would end cordon and roll back the open steps. */
static void outside_the_loop(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&set, signal_numbers[i]);
	sigprocmask(how, &set, NULL);
}

/* Adds rows: what is free beside the hosts of core/session/answers/lasting.c, and what asks. */
static void tell_what_asks(struct model *m, bool dynamic)
{
	const char *network = m->network	? "; the network is open"
			      : m->asks_network ? " and hosts"
						: "; no network";
	AUTO_FREE char *words =
		xasprintf("asks you: %s%s", dynamic ? "other files" : "writes elsewhere", network);

	if (!m->hosts)
		model_add_row(m, ROW_NOTE, 0, 0, 0, "note", "allowed: this folder", NULL);
	model_add_row(m, ROW_NOTE, 0, 0, 0, "note", words, NULL);
}

/* Adds the words of --verbose as rows: elsewhere the screen would cover them. */
static void add_notes(struct run *r)
{
	const char *line = r->host.opt->notes ? r->host.opt->notes : "";

	while (*line) {
		AUTO_FREE char *words = xstrndup(line, strcspn(line, "\n"));

		model_add_row(r->host.model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
		line += strlen(words) + (line[strlen(words)] == '\n');
	}
}

/* Returns what the session leaves: "3 steps ..."; NULL: nothing, or there is no user to read it. */
static char *steps_words(const struct host *h)
{
	const struct console *c = h->latest;
	AUTO_BUF struct buf left = BUF_INIT;

	if (c && c->ui)
		view_steps_sum(c->ui->panes[PANE_STEPS], &left);
	return left.len ? xasprintf("%s. cordon diff, cordon undo, cordon replay\n", left.data)
			: NULL;
}

/* Closes the client's terminal: further messages reach it through the connection. */
static void forget_stdio(void)
{
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
}

static void serve(struct run *r, bool dynamic, struct frames *line, const struct terminal *terminal,
		  struct ending *end)
{
	struct host *h = &r->host;
	struct console *first;
	struct err err = {0};

	open_loop(r);
	first = console_open(h, line);
	first->starter = true;
	if (console_greet(first, terminal, &err) < 0) {
		end->error = xstrdup(err.text);
		h->leaving = true;
	}
	outside_the_loop(SIG_UNBLOCK);
	forget_stdio();
	r->running = true;
	tell_what_asks(h->model, dynamic);
	add_notes(r);
	if (*h->words && !h->failed)
		host_say(h, "%s", h->words);
	open_api(r);
	open_tape(r);
	host_changed(h);
	if (!h->leaving)
		uv_run(&r->loop, UV_RUN_DEFAULT);
	h->leaving = true;
	run_drain(r);
	if (h->again)
		kept_answers_write(r->kept, h->model);
	if (!end->error && !h->failed && !h->killed_by && !h->again)
		end->words = steps_words(h);
	outside_the_loop(SIG_BLOCK);
	close_loop(r);
	r->running = false;
	end->status = end->error ? 125 : exit_status(h);
	end->again = h->again;
	if (h->failed && !end->error)
		end->error = xstrdup(h->words);
}

static int run(struct run *r, const struct session_spec *given, struct frames *line,
	       const struct terminal *terminal, struct ending *end, struct err *err)
{
	struct session_spec spec = *given;
	struct host *h = &r->host;
	int slave = -1, result = run_open_terminal(r, terminal, &slave, err);

	if (result < 0)
		return result;
	spec.stdio[0] = spec.stdio[1] = spec.stdio[2] = slave;
	spec.tty = true;
	result = approver_open(&r->approver, spec.config, err);
	if (result < 0)
		return result;
	outside_the_loop(SIG_BLOCK);
	result = session_start(&h->session, &spec, &listener, r, err);
	if (result < 0) {
		approver_close(r->approver);
		return result;
	}
	approver_attach(r->approver, h->session);
	signal(SIGPIPE, SIG_IGN);
	h->model = session_model(h->session);
	serve(r, spec.dynamic, line, terminal, end);
	approver_attach(r->approver, NULL);
	session_close(h->session);
	approver_close(r->approver);
	if (spec.kept && spec.kept->len)
		end->kept = xstrdup(spec.kept->data);
	return 0;
}

/* Checks everything that may be refused, before anything is started. */
static int look(struct host *h, struct terminal *terminal, struct err *err)
{
	struct console c = {.host = h, .opt = h->opt, .terminal = *terminal};
	int result = console_load_look(&c, err);

	*terminal = c.terminal; /* TERM may have been replaced */
	keymap_free(c.keymap);
	free(c.config_dir);
	return result;
}

void run_host(const struct session_spec *spec, const struct console_options *opt,
	      struct kept_answers *kept, struct frames *line, struct terminal *terminal,
	      struct ending *end)
{
	struct run r = {
		.kept = kept,
		.host = {.loop = &r.loop,
			 .opt = opt,
			 .verbs = &console_verbs,
			 .home = spec->home,
			 .folders = spec->folders,
			 .state_dir = spec->state_dir,
			 .folder = spec->folders && spec->folders[0] ? spec->folders[0] : spec->cwd,
			 .quiet = opt->agent,
			 .pty = PTY_INIT,
			 .left = on_left,
			 .heard = on_heard,
			 .status = exit_status,
			 .resized = on_resized}};
	struct err err = {0};
	int result = tape_prepare(&r.tape, spec->config, opt->record, &err);

	if (result == 0)
		result = terminal_check("--headless", &err);
	if (result == 0)
		result = look(&r.host, terminal, &err);
	if (result == 0)
		result = run(&r, spec, line, terminal, end, &err);
	if (result < 0)
		end->status = 125;
	if (tape_close(take_ptr(&r.tape), !r.host.failed, result < 0 ? NULL : &err) < 0 &&
	    !err.code)
		end->status = 125;
	if (err.code && !end->error)
		end->error = xstrdup(err.text);
	if (line->fd >= 0)
		host_keep_line(&r.host, line);
	host_end(&r.host, end);
	term_free(r.host.term);
	pty_done(&r.host.pty);
}
