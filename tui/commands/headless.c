/* headless - a run without a console of its own: the caller's stdio, no user to ask. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/headless.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <uv.h>

#include "core/api/engine.h"
#include "core/base/text.h"
#include "core/os/signals.h"
#include "core/session/answers/learned.h"
#include "tui/commands/headless_tty.h"
#include "tui/commands/refused.h"
#include "tui/console/driven.h"

struct headless {
	uv_loop_t loop; /* the engine's; run here */
	struct engine *engine;
	struct learned *learned;
	const char *home;
	struct refused refused;
	struct headless_tty tty;
	bool learning; /* an answer was sent and not yet confirmed */
	bool done;
	int status; /* exit status for the shell */
};

static void end_with(struct headless *h, int status)
{
	h->done = true;
	h->status = status;
}

static void on_exited(void *data, int wait_status)
{
	end_with(data, util_exit_code(wait_status));
}

static void on_end(void *data)
{
	end_with(data, 128 + SIGTERM);
}

static void say(const char *words)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, words, strlen(words));
	/* In raw mode, set by the command, a line feed does not return the cursor. */
	fprintf(stderr, "cordon: %s%s\n", shown.data, isatty(STDERR_FILENO) ? "\r" : "");
}

void headless_stopped(void *data, const char *words)
{
	(void)data;
	say(words);
}

static void on_said(void *data, const char *words, bool fatal)
{
	(void)data;
	(void)fatal;
	say(words);
}

/* Answers the next question; each answer changes the list, and leads to another call. */
static void learn(struct headless *h)
{
	struct session *s = engine_session(h->engine);
	const struct model *m = session_model(s);

	h->learning = true;
	while (m->n_asks) {
		const struct answer a = {.allow = learned_allows(&m->asks[0]),
					 .scope = SCOPE_SESSION};
		static const struct answer no = {0};
		uint64_t id = m->asks[0].id;

		learned_note(h->learned, &m->asks[0]);
		if (session_answer(s, "cordon learn", id, &a, NULL) < 0 &&
		    session_answer(s, "cordon learn", id, &no, NULL) < 0)
			break;
	}
	h->learning = false;
}

static void on_changed(void *data)
{
	struct headless *h = data;

	if (h->engine && !h->learned)
		refused_note(&h->refused, engine_model(h->engine), h->home);
	else if (h->engine && !h->learning)
		learn(h);
}

static void on_failed(void *data, int status, const char *words)
{
	struct headless *h = data;

	if (h->done)
		return;
	say(words);
	end_with(h, status);
}

/* Signals from a terminal or a supervisor are meant for the command, which may run before
 * session_start() returns. */
static const int held_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT, 0};

/* Opens the signals after the session has started: else their descriptor could be 0, the
 * command's. */
static int open_signals(const sigset_t *held, struct err *err)
{
	int fd = os_signals_open(held);

	return fd < 0 ? err_set(err, fd, "wait for signals") : fd;
}

static void forward_signals(struct session *s, struct headless *h, int fd)
{
	int sig;

	while ((sig = os_signals_next(fd)) != 0)
		if (!headless_tty_signal(&h->tty, sig))
			session_signal(s, sig);
}

enum {
	OWN_POLLS = 2
};

/* Runs until the command has ended or the keeper is gone. The caller's terminal is polled here and
 * not by the engine's loop: libuv would set O_NONBLOCK on it, which the caller shares. */
static int loop(struct headless *h, int sigfd, struct err *err)
{
	while (uv_run(&h->loop, UV_RUN_NOWAIT), !h->done) {
		struct pollfd p[OWN_POLLS + HEADLESS_TTY_POLLS];

		p[0] = (struct pollfd){.fd = uv_backend_fd(&h->loop), .events = POLLIN};
		p[1] = (struct pollfd){.fd = sigfd, .events = POLLIN};
		headless_tty_polls(&h->tty, p + OWN_POLLS);
		if (poll(p, ARRAY_LEN(p), uv_backend_timeout(&h->loop)) < 0) {
			if (errno != EINTR)
				return err_set(err, -errno, "wait for the command");
			continue;
		}
		if (p[1].revents & POLLIN)
			forward_signals(engine_session(h->engine), h, sigfd);
		headless_tty_ready(&h->tty, p + OWN_POLLS);
	}
	return 0;
}

static void say_refused(struct headless *h)
{
	AUTO_BUF struct buf words = BUF_INIT;

	refused_words(&h->refused, &words);
	fputs(words.data, stderr);
	refused_done(&h->refused);
}

/* Modes of the caller's terminal, which the command may change. They are restored in any case when
 * all inside has ended: the caller's next keys are not for the agent. */
struct modes {
	struct termios is[3];
	bool have[3];
};

static void modes_keep(struct modes *m)
{
	for (int fd = 0; fd < 3; fd++)
		m->have[fd] = tcgetattr(fd, &m->is[fd]) == 0;
}

static void modes_put_back(const struct modes *m)
{
	sigset_t old;

	/* in the background we would be stopped */
	(void)os_signals_block((const int[]){SIGTTOU, 0}, &old);
	for (int fd = 0; fd < 3; fd++) {
		struct termios now;

		if (m->have[fd])
			tcflow(fd, TCOON); /* output may have been stopped */
		if (m->have[fd] && tcgetattr(fd, &now) == 0 &&
		    (now.c_lflag != m->is[fd].c_lflag || now.c_iflag != m->is[fd].c_iflag ||
		     now.c_oflag != m->is[fd].c_oflag || now.c_cflag != m->is[fd].c_cflag ||
		     memcmp(now.c_cc, m->is[fd].c_cc, sizeof(now.c_cc)) != 0))
			tcsetattr(fd, TCSANOW, &m->is[fd]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Shows consoles the output for the caller's terminal. */
static void on_printed(void *data, const char *bytes, size_t len)
{
	struct headless *h = data;

	engine_printed(h->engine, bytes, len, h->tty.size.ws_row, h->tty.size.ws_col);
}

static int run_loop(struct headless *h, const sigset_t *held, struct err *err)
{
	AUTO_CLOSE int sigfd = open_signals(held, err);
	int r;

	headless_tty_started(&h->tty);
	h->tty.pty.tap = on_printed;
	h->tty.pty.tap_data = h;
	if (h->tty.pty.fd >= 0)
		on_printed(h, NULL, 0);
	signal(SIGPIPE, SIG_IGN); /* a client may disconnect at any time */
	r = sigfd < 0 ? sigfd : loop(h, sigfd, err);
	if (!h->learned)
		refused_note(&h->refused, engine_model(h->engine), h->home);
	engine_close(take_ptr(&h->engine));
	uv_run(&h->loop, UV_RUN_DEFAULT);
	return r;
}

int headless_run(struct session_spec *spec, struct learned *learned, struct err *err)
{
	static const struct engine_listener on = {.changed = on_changed,
						  .exited = on_exited,
						  .failed = on_failed,
						  .said = on_said,
						  .end = on_end};
	struct headless h = {.status = 125,
			     .learned = learned,
			     .home = spec->home,
			     .refused = {.folders = spec->folders}};
	struct modes modes;
	sigset_t held;
	int r;

	modes_keep(&modes);
	spec->stdio[0] = STDIN_FILENO;
	spec->stdio[1] = STDOUT_FILENO;
	spec->stdio[2] = STDERR_FILENO;
	r = headless_tty_open(&h.tty, spec, err);
	if (r < 0)
		return r;
	spec->answered = learned != NULL;
	driven_consoles();
	held = os_signals_block(held_signals, NULL);
	r = engine_open_agent(&h.engine, &h.loop, spec, &on, &h, err);
	if (r == 0) {
		r = run_loop(&h, &held, err);
		uv_loop_close(&h.loop);
	}
	headless_tty_close(&h.tty);
	modes_put_back(&modes);
	say_refused(&h);
	return r < 0 ? r : h.status;
}
