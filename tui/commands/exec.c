/* exec - `cordon exec`: the user's shell or command beside the agent, in its sandbox. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/api/socket/frames.h"
#include "core/base/io.h"
#include "core/os/signals.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/session_pick.h"
#include "tui/look/terminal.h"
#include "tui/term/filter.h"

#define PIECE 16384

static const struct usage usage = {
	"exec [SESSION] [-- COMMAND [ARGUMENT...]]",
	"Run a command of yours in the sandbox of a session, beside its agent: same files, rules, "
	"limits and network. Without COMMAND it is your shell. What it changes is yours: steps "
	"named \"you: COMMAND\", which an undo of the agent's work asks about. SESSION is its name "
	"or the end of it, as cordon sessions shows it; without it the session of this folder, or "
	"the only one.",
	NULL,
	0,
};

/* One of the two outputs. A terminal gets filtered output: the command may print files that the
 * agent wrote. */
struct output {
	int fd;
	bool filtered;
	struct term_filter filter;
};

struct exec {
	struct frames line;
	struct output out, errors;
	int signals;
	bool tty, raw, input_over;
	struct termios modes; /* the terminal's, before */
	struct ending end;
	bool over;
};

/* ---- the terminal ---------------------------------------------------------------------------- */

static void set_modes(const struct termios *modes)
{
	sigset_t old;

	(void)os_signals_block((const int[]){SIGTTOU, 0},
			       &old); /* in the background we would be stopped */
	tcsetattr(STDIN_FILENO, TCSADRAIN, modes);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void take_terminal(struct exec *x)
{
	struct termios raw;

	if (!x->tty || tcgetattr(STDIN_FILENO, &x->modes) < 0)
		return;
	raw = x->modes;
	cfmakeraw(&raw);
	set_modes(&raw);
	x->raw = true;
}

static void give_back(struct exec *x)
{
	if (x->raw)
		set_modes(&x->modes);
	x->raw = false;
}

static struct frame_size here_size(void)
{
	int w = 80, h = 24;

	terminal_size(STDOUT_FILENO, &w, &h);
	return (struct frame_size){.w = (uint16_t)w, .h = (uint16_t)h};
}

/* ---- frames and signals ---------------------------------------------------------------------- */

static struct output output_to(int fd)
{
	return (struct output){
		.fd = fd, .filtered = isatty(fd), .filter.ascii = !terminal_here_is_utf8()};
}

/* Writes bytes to an output. Returns 0 or negative errno: -EPIPE if its reader is closed. */
static int put(struct output *o, struct span bytes)
{
	AUTO_BUF struct buf passed = BUF_INIT;

	if (!o->filtered)
		return io_write_all(o->fd, bytes.data, bytes.len);
	term_filter_feed(&o->filter, bytes.data, bytes.len, &passed);
	return io_write_all(o->fd, passed.data, passed.len);
}

static void put_end(struct output *o)
{
	AUTO_BUF struct buf rest = BUF_INIT;

	term_filter_end(&o->filter, &rest);
	io_write_all(o->fd, rest.data, rest.len);
}

static void on_frame(struct exec *x, const struct frame *f)
{
	switch ((int)f->type) {
	case FRAME_OUTPUT:
	case FRAME_ERRORS:
		if (put(f->type == FRAME_OUTPUT ? &x->out : &x->errors, f->data) == 0)
			break;
		x->over = true; /* its reader is closed */
		x->end.status = 128 + SIGPIPE;
		break;
	case FRAME_END:
		x->over = ending_get(&x->end, &f->data) == 0;
		break;
	default:
		break;
	}
}

static void hear_input(struct exec *x)
{
	char bytes[PIECE];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n > 0)
		frames_send(&x->line, FRAME_INPUT, bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		frames_send(&x->line, FRAME_EOF, NULL, 0);
		x->input_over = true;
	}
}

/* Forwards a signal. On a terminal, keys reach the program itself; these signals have other
 * senders. */
static void hear_signal(struct exec *x, int sig)
{
	struct frame_size size = here_size();

	if (sig == SIGWINCH) {
		frames_send(&x->line, FRAME_SIZE, &size, sizeof(size));
	} else if (sig == SIGCONT) {
		if (x->raw)
			take_terminal(x);
	} else if (sig == SIGHUP || (x->tty && sig == SIGTERM)) {
		x->over = true;
		x->end.status = 128 + sig;
	} else {
		frames_send(&x->line, FRAME_SIGNAL, &sig, sizeof(sig));
	}
}

static int loop(struct exec *x)
{
	struct frame f;
	int r = 0, sig;

	while (!x->over && r != -EPIPE) {
		bool full = frames_wants_write(&x->line);
		struct pollfd p[] = {
			{.fd = x->line.fd, .events = (short)(POLLIN | (full ? POLLOUT : 0))},
			{.fd = full || x->input_over ? -1 : STDIN_FILENO, .events = POLLIN},
			{.fd = x->signals, .events = POLLIN},
		};

		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			return -errno;
		while ((sig = os_signals_next(x->signals)) > 0)
			hear_signal(x, sig);
		if (p[1].revents)
			hear_input(x);
		if (p[0].revents & POLLOUT)
			frames_flush(&x->line);
		if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
			r = frames_fill(&x->line);
		while (!x->over && frames_next(&x->line, &f) > 0)
			on_frame(x, &f);
	}
	return x->over ? 0 : -EPIPE;
}

/* ---- start ----------------------------------------------------------------------------------- */

static int open_signals(sigset_t *old)
{
	static const int list[] = {SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGQUIT, SIGHUP, 0};
	const sigset_t set = os_signals_block(list, old);

	signal(SIGPIPE, SIG_IGN);
	return os_signals_open(&set);
}

static void send_order(struct exec *x, char *cwd, char **argv)
{
	static const char *const names[] = {"TERM", "COLORTERM"};
	const char *shell = getenv("SHELL");
	char *const own[] = {(char *)(uintptr_t)(shell && *shell == '/' ? shell : "/bin/sh"), NULL};
	char *env[3] = {NULL};
	struct shell_order o = {.tty = x->tty, .size = here_size(), .cwd = cwd, .env = env};
	AUTO_BUF struct buf bytes = BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; x->tty && i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value)
			env[n++] = xasprintf("%s=%s", names[i], value);
	}
	o.argv = argv[0] ? argv : (char **)(uintptr_t)own;
	shell_order_put(&o, &bytes);
	frames_send(&x->line, FRAME_SHELL, bytes.data, bytes.len);
	while (n)
		free(env[--n]);
}

static int relay(struct link *l, char *cwd, char **argv, struct err *err)
{
	struct exec x = {.tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
			 .out = output_to(STDOUT_FILENO),
			 .errors = output_to(STDERR_FILENO)};
	sigset_t old;
	int r;

	x.signals = open_signals(&old);
	frames_open(&x.line, take_fd(&l->fd));
	take_terminal(&x);
	send_order(&x, cwd, argv);
	r = loop(&x);
	put_end(&x.out);
	put_end(&x.errors);
	give_back(&x);
	frames_close(&x.line);
	util_close_fd(&x.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (r < 0)
		err_say(err, r, "exec: the session's process has ended, and the sandbox with it");
	else if (x.end.error)
		err_say(err, -EIO, "exec: %s", x.end.error);
	r = r < 0 ? r : x.end.status;
	ending_done(&x.end);
	return r;
}

static int run(const char *wanted, char **argv, struct err *err)
{
	AUTO_FREE char *cwd = realpath(".", NULL);
	const struct session_pick pick = {.who = "exec", .wanted = wanted, .here = cwd};
	struct buf ask = BUF_INIT;
	struct link link;
	int r = session_pick(&pick, &link, err);

	if (r == 0) {
		buf_str(&ask, "{\"type\":\"cmd.exec\"}\n");
		r = link_command(&link, &ask, err);
		if (r == -EPERM)
			err_wrap(err, r, "session %s", link.session);
		buf_done(&ask);
	}
	if (r == 0)
		r = relay(&link, cwd ? cwd : (char *)(uintptr_t) "/", argv, err);
	link_done(&link);
	return r;
}

int cmd_exec(int argc, char **argv, struct err *err)
{
	struct strings args = {0};
	char unused;
	int r = flags_parse(&usage, argc, argv, &unused, &args, err);

	if (r > 0) /* --help was printed */
		return 0;
	if (r == 0 && args.ahead > 1)
		r = err_say(err, -EINVAL, "exec: '%s': put -- before the command: usage: cordon %s",
			    args.list[0], usage.synopsis);
	if (r == 0) {
		AUTO_FREE char **words = xcalloc(args.n + 1, sizeof(*words));

		for (size_t i = args.ahead; i < args.n; i++)
			words[i - args.ahead] = (char *)(uintptr_t)args.list[i];
		r = run(args.ahead ? args.list[0] : NULL, words, err);
	}
	strings_done(&args);
	return r < 0 ? CMD_FAILED : r;
}
