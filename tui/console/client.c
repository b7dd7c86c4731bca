/* client - relays the user's terminal to the host that draws the console. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/io.h"
#include "core/os/signals.h"
#include "tui/look/rescue.h"

#define INPUT_MAX 16384
#define DRAIN_MS  1000 /* longest wait for a slow terminal at the end */

struct client {
	const struct client_spec *spec;
	struct frames line;
	int tty, signals;
	bool raw;	/* the terminal is in raw mode */
	bool modern;	/* for rescue_arm() */
	pid_t lent;	/* the program that uses the terminal; 0: none */
	struct buf out; /* bytes for the terminal; those before `written` are sent */
	size_t written;
	bool over; /* `end` has the reason */
	struct ending *end;
};

sigset_t client_block_signals(sigset_t *old)
{
	return os_signals_block(
		(const int[]){SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGCHLD, 0},
		old);
}

static void end_with(struct client *c, int status)
{
	c->over = true;
	c->end->status = status;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static void set_raw(struct client *c)
{
	struct termios modes;

	if (tcgetattr(c->tty, &modes) < 0)
		return;
	cfmakeraw(&modes);
	modes.c_cc[VMIN] = 1;
	modes.c_cc[VTIME] = 0;
	tcsetattr(c->tty, TCSADRAIN, &modes);
}

static void take_terminal(struct client *c)
{
	if (c->raw || c->spec->plain)
		return;
	c->raw = true;
	rescue_arm(c->tty, c->modern);
	util_set_oom_hook(rescue_restore);
	set_raw(c);
}

/* Writes to the terminal, and waits at most ms for it at a time. */
static void write_out(struct client *c, int ms)
{
	struct pollfd p = {.fd = c->tty, .events = POLLOUT};

	while (c->written < c->out.len) {
		ssize_t n = write(c->tty, c->out.data + c->written, c->out.len - c->written);

		if (n > 0)
			c->written += (size_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno != EAGAIN)
			break; /* the terminal is gone: a read will report it */
		else if (poll(&p, 1, ms) <= 0)
			return;
	}
	buf_clear(&c->out);
	c->written = 0;
}

static void give_back(struct client *c)
{
	write_out(c, DRAIN_MS);
	if (c->raw) {
		rescue_restore();
		rescue_disarm();
		util_set_oom_hook(NULL);
	}
	c->raw = false;
}

static void say_size(struct client *c, enum frame_type type)
{
	struct frame_size size;
	int w = 80, h = 24;

	terminal_size(c->tty, &w, &h);
	size = (struct frame_size){.w = (uint16_t)w, .h = (uint16_t)h};
	frames_send(&c->line, type, &size, sizeof(size));
}

/* Draws again: another program may have used the terminal, and after SIGSTOP without notice. */
static void draw_again(struct client *c)
{
	set_raw(c);
	say_size(c, FRAME_RESUMED);
}

/* Takes the terminal after rescue_restore(). */
static void take_again(struct client *c)
{
	rescue_rearm();
	draw_again(c);
}

static void suspend(struct client *c)
{
	sigset_t stop;

	write_out(c, DRAIN_MS);
	if (c->raw)
		rescue_restore();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here, if a shell can continue it */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	if (c->raw)
		take_again(c);
}

/* ---- a program that has the terminal --------------------------------------------------------- */

static void say_ran(struct client *c, int status)
{
	frames_send(&c->line, FRAME_RAN, &status, sizeof(status));
}

static void run_program(struct client *c, const struct span *words)
{
	const char *argv[16] = {NULL};
	size_t n = 0;
	struct err err = {0};
	sigset_t old, none;
	pid_t pid;

	for (size_t at = 0; at < words->len && n + 1 < ARRAY_LEN(argv);
	     at += strnlen(words->data + at, words->len - at) + 1)
		argv[n++] = words->data + at;
	if (!n || c->lent || words->data[words->len - 1]) {
		say_ran(c, 127);
		return;
	}
	write_out(c, DRAIN_MS);
	rescue_restore();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &old); /* mask of the program */
	pid = external_start(&(struct external){.argv = argv,
						.in = EXTERNAL_SAME,
						.out = EXTERNAL_SAME,
						.err = EXTERNAL_SAME},
			     &err);
	sigprocmask(SIG_SETMASK, &old, NULL);
	c->lent = MAX(pid, 0);
	if (pid > 0)
		return;
	take_again(c);
	say_ran(c, 127);
}

static void reap_program(struct client *c)
{
	int status;

	if (!c->lent || waitpid(c->lent, &status, WNOHANG) != c->lent)
		return;
	c->lent = 0;
	take_again(c);
	say_ran(c, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- frames and events ----------------------------------------------------------------------- */

static void on_frame(struct client *c, const struct frame *f)
{
	switch (f->type) {
	case FRAME_OUTPUT:
		take_terminal(c);
		if (!c->lent)
			buf_add(&c->out, f->data.data, f->data.len);
		break;
	case FRAME_SUSPEND:
		suspend(c);
		break;
	case FRAME_RUN:
		run_program(c, &f->data);
		break;
	case FRAME_STOP_RUN:
		if (c->lent)
			kill(c->lent, SIGHUP);
		break;
	case FRAME_CLOSE:
		give_back(c);
		break;
	case FRAME_SAY:
		give_back(c);
		fprintf(stderr, "cordon: %.*s\n", (int)f->data.len, f->data.data);
		break;
	case FRAME_END:
		give_back(c);
		c->over = ending_get(c->end, &f->data) == 0;
		break;
	case FRAME_HELLO:
	case FRAME_INPUT:
	case FRAME_SIZE:
	case FRAME_RESUMED:
	case FRAME_SIGNAL:
	case FRAME_RAN:
	case FRAME_SHELL:
	case FRAME_EOF:
	case FRAME_ERRORS:
		break; /* the client's own */
	}
}

/* Reads the host's frames. Returns 0, or -EPIPE if the host has gone. */
static int hear_host(struct client *c)
{
	struct frame f;
	int r = frames_fill(&c->line);

	while (!c->over && frames_next(&c->line, &f) > 0)
		on_frame(c, &f);
	return r == -EPIPE && !c->over ? r : 0;
}

static void hear_terminal(struct client *c)
{
	char bytes[INPUT_MAX];
	ssize_t n = read(c->tty, bytes, sizeof(bytes));

	if (n > 0)
		frames_send(&c->line, FRAME_INPUT, bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		end_with(c, 128 + SIGHUP);
}

static void hear_signal(struct client *c, int sig)
{
	bool own = sig == SIGTERM || sig == SIGINT;

	if (c->lent && (sig == SIGINT || sig == SIGWINCH || sig == SIGCONT || sig == SIGTSTP))
		return; /* the program's */
	if (sig == SIGWINCH)
		say_size(c, FRAME_SIZE);
	else if (sig == SIGTSTP)
		suspend(c);
	else if (sig == SIGCONT && c->raw)
		draw_again(c);
	else if (own && c->spec->host)
		frames_send(&c->line, FRAME_SIGNAL, &sig, sizeof(sig));
	else if (own || sig == SIGHUP)
		end_with(c, 128 + sig);
}

static int loop(struct client *c)
{
	int r = 0, sig;

	while (!c->over && r == 0) {
		bool full = c->written < c->out.len;
		bool listens = c->raw && !c->lent;
		struct pollfd p[] = {
			{.fd = c->line.fd,
			 .events = (short)((full ? 0 : POLLIN) |
					   (frames_wants_write(&c->line) ? POLLOUT : 0))},
			{.fd = full || listens ? c->tty : -1,
			 .events = (short)((full ? POLLOUT : 0) | (listens ? POLLIN : 0))},
			{.fd = c->signals, .events = POLLIN},
		};

		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			break;
		while ((sig = os_signals_next(c->signals)) > 0)
			hear_signal(c, sig);
		reap_program(c);
		if (listens && p[1].revents & (POLLIN | POLLHUP | POLLERR))
			hear_terminal(c);
		frames_flush(&c->line);
		if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
			r = hear_host(c);
		write_out(c, 0);
	}
	return r;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Explains why the host ended without a message, if it is a child of this process. */
static int lost(const struct client *c, struct err *err)
{
	AUTO_FREE char *how = NULL;
	int status;

	if (c->spec->host && waitpid(c->spec->host, &status, 0) == c->spec->host)
		how = WIFSIGNALED(status) ? xasprintf(" by signal %d (%s)", WTERMSIG(status),
						      strsignal(WTERMSIG(status)))
					  : xasprintf(" with %d", WEXITSTATUS(status));
	return err_say(err, -EPIPE,
		       "the session's process has ended%s, and the sandbox with it: cordon log "
		       "shows what was kept",
		       how ? how : "");
}

int client_run(const struct client_spec *spec, struct ending *ret, struct err *err)
{
	struct client c = {.spec = spec, .out = BUF_INIT, .end = ret};
	AUTO_BUF struct buf hello = BUF_INIT;
	struct terminal here;
	sigset_t set, old;
	int r;

	*ret = (struct ending){0};
	frames_open(&c.line, spec->fd);
	terminal_here(&here);
	c.modern = terminal_is_modern(&here);
	terminal_done(&here);
	set = client_block_signals(&old);
	c.tty = spec->plain ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : terminal_open();
	c.signals = os_signals_open(&set);
	r = MIN(c.signals, 0);
	if (r < 0)
		err_set(err, r, "wait for signals");
	if (spec->hello) {
		terminal_put(spec->hello, &hello);
		frames_send(&c.line, FRAME_HELLO, hello.data, hello.len);
	}
	if (r == 0 && loop(&c) < 0) {
		give_back(&c);
		r = lost(&c, err);
	}
	if (c.lent)
		kill(c.lent, SIGHUP);
	give_back(&c);
	frames_close(&c.line);
	if (r == 0 && spec->host && !ret->detached && ret->status != 128 + SIGHUP)
		waitpid(spec->host, NULL, 0);
	buf_done(&c.out);
	util_close_fd(&c.tty);
	util_close_fd(&c.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
