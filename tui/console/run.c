/* run - the console around a run of our own: from the first look at the terminal to the end. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/api/api.h"
#include "core/api/approver.h"
#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/console_priv.h"

void console_options_set(struct console_options *o, const struct config *c)
{
	o->theme = config_str(c, "ui.theme");
	o->keymap = config_str(c, "ui.keymap");
	o->prefix = config_str(c, "ui.prefix");
	o->exit_at_end = config_bool(c, "ui.exit");
	o->mouse = config_bool(c, "ui.mouse");
	o->ascii = config_bool(c, "ui.ascii");
	o->still = !config_bool(c, "ui.motion");
	o->clipboard = config_str(c, "console.clipboard");
	o->copy_command = config_str(c, "console.copy-command");
	o->open = config_str(c, "console.open");
	o->notify = config_str(c, "console.notify");
	o->notify_command = config_str(c, "console.notify-command");
	o->detach = str_eq(config_str(c, "console.on-hangup"), "detach");
}

/* ---- the session ---------------------------------------------------------------------------- */

static void on_exited(void *data, int wait_status)
{
	struct console *c = data;

	(void)wait_status;
	if (c->away && c->ui)
		console_notify(c, "the agent has ended");
	if (c->opt->exit_at_end || (c->ui && !c->screen))
		console_leave(c);
}

static void on_failed(void *data, int status, const char *words)
{
	struct console *c = data;

	c->failed = status;
	text_escape_into(c->words, sizeof(c->words), words, strlen(words));
	console_leave(c);
}

/* Before there is a screen: on the terminal as it was, and on the status line once there is one. */
static void on_stopped(void *data, const char *words)
{
	struct console *c = data;
	AUTO_BUF struct buf shown = BUF_INIT;

	if (c->ui) {
		text_escape(&shown, words, strlen(words));
		ui_say(c->ui, "x %s", shown.data);
		return;
	}
	text_escape_into(c->words, sizeof(c->words), words, strlen(words));
	fprintf(stderr, "cordon: %s\n", c->words);
}

static void on_changed(void *data)
{
	struct console *c = data;

	if (c->model)
		tape_news(c->tape, c->model);
	if (!c->ui)
		return;
	api_changed(c->api);
	approver_changed(c->approver);
	ui_changed(c->ui);
	console_schedule(c);
}

static void on_restart(void *data)
{
	console_restart(data);
}

static bool on_secret(void *data, const char *text)
{
	const struct console *c = data;

	return tape_secret(c->tape, text);
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

static int feed_fd(const struct console *c)
{
	return session_fd(c->session);
}

static bool feed_wants_write(const struct console *c)
{
	return session_wants_write(c->session);
}

static int feed_ready(struct console *c, bool readable, bool writable)
{
	return session_ready(c->session, readable, writable);
}

static void feed_tick(struct console *c)
{
	session_tick(c->session);
}

/* ---- the agent's terminal ------------------------------------------------------------------- */

static void on_output(void *data, const void *bytes, size_t len)
{
	struct console *c = data;

	tape_input(c->tape, c->pty.fd, bytes, len);
	if (!c->pty_over && pty_write(&c->pty, bytes, len) < 0)
		ui_say(c->ui, "The agent does not read its input: that was dropped.");
}

static void on_bell(void *data)
{
	console_verbs.bell(data);
	console_called(data);
}

static void on_call(void *data)
{
	console_called(data);
}

static void on_title(void *data, const char *title)
{
	(void)title; /* drawn with the pane */
	console_schedule(data);
}

static void on_clipboard(void *data, const char *text, size_t len)
{
	struct console *c = data;
	const char *may = c->opt->clipboard ? c->opt->clipboard : "deny";

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

int console_open_screen(struct console *c, struct err *err)
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

void console_open_ui(struct console *c, const struct ui_verbs *verbs, const char *folder,
		     const char *const *folders, const char *state_dir)
{
	c->ui = ui_new(&(struct ui_spec){
		.model = c->model,
		.keymap = c->keymap,
		.term = c->term,
		.verbs = verbs,
		.data = c,
		.folder = folder,
		.folders = folders,
		.state_dir = state_dir,
		.mouse = c->opt->mouse,
		.still = c->opt->still,
		.replay = c->replay,
		.attached = c->mirror != NULL || c->replay != NULL,
	});
	c->pane = ui_resize(c->ui, c->surface.w, c->surface.h);
	c->ui->over = c->replay != NULL; /* nothing ends here but the recording */
	console_tell_colors(c);
	console_settle(c);
}

/* A session that cannot be reached from elsewhere is still a session: said, not refused. */
static void open_api(struct console *c, const struct session_spec *spec)
{
	AUTO_FREE char *dir = api_dir(spec->state_dir);
	struct err err = {0};

	if (api_open(&c->api, &c->loop, c->session, dir, &err) < 0)
		ui_say(c->ui, "Other terminals cannot answer for this session: %s", err.text);
}

int console_load_look(struct console *c, const char *home, const char *const *folders,
		      struct err *err)
{
	const char *config_home = getenv("XDG_CONFIG_HOME");
	int r = screen_check(err);

	if (r < 0)
		return r;
	c->config_dir = config_home && *config_home == '/'
				? path_join(config_home, "cordon")
				: path_join(home ? home : "/", ".config/cordon");
	c->where = (struct look_where){.dir = c->config_dir, .folders = folders};
	r = keymap_load(&c->keymap, c->opt->keymap ? c->opt->keymap : "default", &c->where, err);
	if (r == 0 && c->opt->prefix)
		r = keymap_set_prefix(c->keymap, c->opt->prefix, err);
	c->look_seen = look_signature(&c->where);
	if (r < 0)
		return r;
	return theme_load(&c->theme, c->opt->theme ? c->opt->theme : "default", &c->where,
			  DEPTH_256, err);
}

static int open_terminal(struct console *c, int *ret_slave, struct err *err)
{
	struct layout l;
	struct rect pane;
	int w, h;

	screen_probe_size(&w, &h);
	l = layout_compute(w, h, PANE_TERMINAL, false, NULL);
	pane = l.mode == LAYOUT_TOO_SMALL ? (struct rect){0, 0, w, h} : l.pane[PANE_TERMINAL];
	c->term = term_new(MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN), &term_events, c);
	return pty_open(&c->pty, MAX(pane.h, TERM_MIN), MAX(pane.w, TERM_MIN), ret_slave, err);
}

void console_done(struct console *c)
{
	term_free(c->term);
	pty_done(&c->pty);
	input_done(&c->input);
	surface_done(&c->surface);
	keymap_free(c->keymap);
	free(c->config_dir);
	free(c->theme_name);
}

/* A session that cannot be recorded is still a session: said, not refused. */
static void open_tape(struct console *c, const struct session_spec *spec)
{
	struct err err = {0};

	c->ui->now_us = clock_mono_us();
	c->pty.tap = tape_output;
	c->pty.tap_data = c->tape;
	if (tape_open(c->tape, spec->state_dir, c->model, c->term, &err) < 0)
		ui_say(c->ui, "This session is not recorded: %s", err.text);
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

/* What ends the console is heard by its loop. Outside of that, while the session starts and ends,
 * the signal would end cordon, and the open steps would be rolled back. A closed terminal sends
 * SIGHUP twice: when it closes, and when its shell ends. */
static void outside_the_loop(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigprocmask(how, &set, NULL);
}

/* What --verbose says: the screen would cover it elsewhere. */
static void add_notes(struct console *c)
{
	const char *line = c->opt->notes ? c->opt->notes : "";

	while (*line) {
		AUTO_FREE char *words = xstrndup(line, strcspn(line, "\n"));

		model_add_row(c->model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
		line += strlen(words) + (line[strlen(words)] == '\n');
	}
}

/* A profile of its own: that of tool chains is every program's. */
static bool is_agent(const char *profile)
{
	return profile && !str_eq(profile, "tools") && !str_eq(profile, "none");
}

/* Of this session, in effect, and about the project. */
static size_t steps_left(const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_steps; i++)
		n += !m->steps[i].earlier && !m->steps[i].undone && !m->steps[i].elsewhere;
	return n;
}

static int run(struct console *c, const struct session_spec *given, int slave, struct err *err)
{
	struct session_spec spec = *given;
	struct ui_verbs verbs = console_verbs;
	struct err failed = {0};
	size_t steps = 0;
	int status = 125;

	verbs.attach = console_can_split() ? console_attach_beside : NULL;
	spec.stdio[0] = spec.stdio[1] = spec.stdio[2] = slave;
	spec.tty = true;
	if (approver_open(&c->approver, spec.config, err) < 0)
		return 125;
	outside_the_loop(SIG_BLOCK);
	if (session_start(&c->session, &spec, &listener, c, err) < 0) {
		approver_close(c->approver);
		return 125;
	}
	approver_attach(c->approver, c->session);
	signal(SIGPIPE, SIG_IGN);
	c->model = session_model(c->session);
	if (console_open_screen(c, err) == 0) {
		console_set_up_loop(c);
		outside_the_loop(SIG_UNBLOCK);
		console_open_ui(c, &verbs,
				spec.folders && spec.folders[0] ? spec.folders[0] : spec.cwd,
				spec.folders, spec.state_dir);
		if (is_agent(config_profile(spec.config)))
			view_audit_quiet(c->ui->panes[PANE_AUDIT]);
		add_notes(c);
		if (*c->words && !c->failed)
			ui_say(c->ui, "%s", c->words);
		open_api(c, &spec);
		open_tape(c, &spec);
		console_schedule(c);
		if (!c->leaving)
			uv_run(&c->loop, UV_RUN_DEFAULT);
		c->leaving = true;
		console_drain(c);
		ui_free(c->ui);
		c->ui = NULL;
		outside_the_loop(SIG_BLOCK);
		console_tear_down_loop(c);
		status = exit_status(c, session_model(c->session), err);
		steps = c->failed || c->killed_by || c->again ? 0 : steps_left(c->model);
	}
	screen_close(c->screen);
	c->screen = NULL;
	approver_attach(c->approver, NULL);
	session_close(c->session);
	approver_close(c->approver);
	if (tape_close(take_ptr(&c->tape), &failed) < 0)
		fprintf(stderr, "cordon: %s\n", failed.text);
	if (steps)
		printf("%zu step%s. cordon diff, cordon undo, cordon replay\r\n", steps,
		       steps == 1 ? "" : "s");
	if (c->again)
		outside_the_loop(SIG_UNBLOCK);
	return status;
}

int console_run(const struct session_spec *spec, const struct console_options *opt, struct err *err)
{
	static const struct feed feed = {
		.fd = feed_fd,
		.wants_write = feed_wants_write,
		.ready = feed_ready,
		.tick = feed_tick,
		.gone = "x The sandbox's keeper has ended: nothing can change any more.",
	};
	struct console c = {.opt = opt, .pty = PTY_INIT, .feed = &feed};
	int slave = -1, status = 125;

	input_init(&c.input);
	if (tape_prepare(&c.tape, spec->config, opt->record, err) == 0 &&
	    console_load_look(&c, spec->home, spec->folders, err) == 0 &&
	    open_terminal(&c, &slave, err) >= 0)
		status = run(&c, spec, slave, err);
	if (opt->again)
		*opt->again = c.again;
	console_done(&c);
	if (tape_close(take_ptr(&c.tape), NULL) < 0)
		status = 125;
	return status;
}
