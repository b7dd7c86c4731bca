/* headless - a run without a console: the caller's own stdio, nobody to ask. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/headless.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/api/approver.h"
#include "core/base/text.h"
#include "core/os/signals.h"
#include "core/session/learned.h"
#include "tui/commands/refused.h"

struct headless {
	struct approver *approver;
	struct learned *learned;
	struct session *session;
	const char *home;
	struct refused refused;
	bool learning; /* an answer of ours is on its way */
	bool done;
	int status; /* what the shell gets */
};

int exit_status_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

static void on_exited(void *data, int wait_status)
{
	struct headless *h = data;

	h->done = true;
	h->status = exit_status_of(wait_status);
}

static void say(const char *words)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, words, strlen(words));
	fprintf(stderr, "cordon: %s\n", shown.data);
}

void headless_stopped(void *data, const char *words)
{
	(void)data;
	say(words);
}

/* Each answer takes its request away, and tells of that. */
static void learn(struct headless *h)
{
	const struct model *m = session_model(h->session);

	h->learning = true;
	while (m->n_asks) {
		const struct answer a = {.allow = learned_allows(&m->asks[0]),
					 .scope = SCOPE_SESSION};
		static const struct answer no = {0};
		uint64_t id = m->asks[0].id;

		learned_note(h->learned, &m->asks[0]);
		if (session_answer(h->session, "cordon learn", id, &a, NULL) < 0 &&
		    session_answer(h->session, "cordon learn", id, &no, NULL) < 0)
			break;
	}
	h->learning = false;
}

static void on_changed(void *data)
{
	struct headless *h = data;

	if (h->session && !h->learned)
		refused_note(&h->refused, session_model(h->session), h->home);
	if (!h->learned)
		approver_changed(h->approver);
	else if (h->session && !h->learning)
		learn(h);
}

static void on_failed(void *data, int status, const char *words)
{
	struct headless *h = data;

	say(words);
	h->done = true;
	h->status = status;
}

/* What a terminal or a supervisor sends to cordon is meant for the command, which may run before
 * session_start() has returned. */
static void hold_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
	sigaddset(ret, SIGQUIT);
	sigprocmask(SIG_BLOCK, ret, NULL);
}

/* Not before the session has started: its number may be 0, which would be the command's. */
static int open_signals(const sigset_t *held, struct err *err)
{
	int fd = os_signals_open(held);

	return fd < 0 ? err_set(err, fd, "wait for signals") : fd;
}

static void forward_signals(struct session *s, int fd)
{
	int sig;

	while ((sig = os_signals_next(fd)) != 0)
		session_signal(s, sig);
}

/* Until the command has ended or the keeper is gone. */
static void loop(struct session *s, struct headless *h, int sigfd)
{
	while (!h->done) {
		struct pollfd p[] = {
			{.fd = session_fd(s), .events = POLLIN},
			{.fd = sigfd, .events = POLLIN},
			{.fd = approver_fd(h->approver), .events = POLLIN},
		};

		if (session_wants_write(s))
			p[0].events |= POLLOUT;
		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			break;
		if (p[1].revents & POLLIN)
			forward_signals(s, sigfd);
		if (p[2].revents)
			approver_ready(h->approver);
		if (p[0].revents && session_ready(s, p[0].revents & (POLLIN | POLLHUP | POLLERR),
						  p[0].revents & POLLOUT) < 0)
			break;
	}
}

static void say_refused(struct headless *h)
{
	AUTO_BUF struct buf words = BUF_INIT;

	refused_words(&h->refused, &words);
	fputs(words.data, stderr);
	refused_done(&h->refused);
}

/*
 * The command works with the caller's own terminal, and may set its modes. Whatever happens they
 * are what they were when all inside has ended: the caller's next keys are not the agent's.
 */
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
	sigset_t out, old;

	/* From the background it would stop us. */
	sigemptyset(&out);
	sigaddset(&out, SIGTTOU);
	sigprocmask(SIG_BLOCK, &out, &old);
	for (int fd = 0; fd < 3; fd++) {
		struct termios now;

		if (m->have[fd])
			tcflow(fd, TCOON); /* it may have been stopped */
		if (m->have[fd] && tcgetattr(fd, &now) == 0 &&
		    (now.c_lflag != m->is[fd].c_lflag || now.c_iflag != m->is[fd].c_iflag ||
		     now.c_oflag != m->is[fd].c_oflag || now.c_cflag != m->is[fd].c_cflag ||
		     memcmp(now.c_cc, m->is[fd].c_cc, sizeof(now.c_cc)) != 0))
			tcsetattr(fd, TCSANOW, &m->is[fd]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int headless_run(struct session_spec *spec, struct learned *learned, struct err *err)
{
	static const struct session_listener on = {.changed = on_changed,
						   .exited = on_exited,
						   .failed = on_failed,
						   .stopped = headless_stopped,
						   .frozen = headless_stopped};
	struct headless h = {.status = 125, .learned = learned, .home = spec->home};
	AUTO_CLOSE int sigfd = -1;
	struct session *s = NULL;
	struct modes modes;
	sigset_t held;
	int r;

	modes_keep(&modes);
	spec->stdio[0] = STDIN_FILENO;
	spec->stdio[1] = STDOUT_FILENO;
	spec->stdio[2] = STDERR_FILENO;
	r = approver_open(&h.approver, spec->config, err);
	if (r < 0)
		return r;
	spec->answered = learned || approver_answers(h.approver);
	hold_signals(&held);
	r = session_start(&s, spec, &on, &h, err);
	if (r < 0) {
		approver_close(h.approver);
		return r;
	}
	approver_attach(h.approver, s);
	h.session = s;
	sigfd = open_signals(&held, err);
	if (sigfd >= 0)
		loop(s, &h, sigfd);
	approver_attach(h.approver, NULL);
	if (!learned)
		refused_note(&h.refused, session_model(s), h.home);
	session_close(s);
	modes_put_back(&modes);
	say_refused(&h);
	approver_close(h.approver);
	if (sigfd < 0)
		return sigfd;
	if (!h.done)
		return err_say(
			err, -EPIPE,
			"the keeper ended before the command did: its step is rolled back at "
			"the next start: run cordon log to see what is there");
	return h.status;
}
