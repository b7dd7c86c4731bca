/* headless_tty - a pty and a filter between the user's terminal and a command without a console. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/headless_tty.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "tui/look/terminal.h"

#define CHUNK	    4096
#define TYPED_AHEAD ((size_t)64 * 1024) /* bytes typed ahead of the command */

enum {
	POLL_PTY,
	POLL_KEYS,
	POLL_OUTPUT
};

/* ---- the user's terminal --------------------------------------------------------------------- */

/* Returns whether cordon is in the background, where reading from its terminal or changing its
 * modes would stop it. */
static bool in_background(void)
{
	pid_t front = tcgetpgrp(STDIN_FILENO);

	return front >= 0 && front != getpgrp();
}

static void copy_size(struct headless_tty *t)
{
	struct winsize size;

	if (ioctl(t->terminal, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
		return;
	t->size = size;
	ioctl(t->pty.fd, TIOCSWINSZ, &size);
}

static void take_keys(struct headless_tty *t)
{
	struct termios raw = t->before;

	if (!t->typed || t->reads || in_background())
		return;
	cfmakeraw(&raw);
	t->reads = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
	copy_size(t); /* no SIGWINCH arrives in the background */
}

static void give_keys_back(struct headless_tty *t)
{
	if (t->reads && !in_background())
		tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before);
	t->reads = false;
}

/* Stops cordon, not the command, after Ctrl-Z, unless that is a key of the command's. Returns after
 * fg. */
static void suspend(struct headless_tty *t)
{
	give_keys_back(t);
	kill(0, SIGTSTP);
	take_keys(t);
}

static bool suspends(const struct headless_tty *t, char key)
{
	struct termios now;

	return tcgetattr(t->pty.fd, &now) == 0 && now.c_lflag & ISIG &&
	       (unsigned char)key == now.c_cc[VSUSP] && now.c_cc[VSUSP];
}

static void read_keys(struct headless_tty *t)
{
	char bytes[CHUNK];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes)), from = 0;

	if (n <= 0) {
		if (n == 0 || (errno != EINTR && errno != EAGAIN))
			t->reads = t->typed = false; /* hung up; a signal follows */
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (!suspends(t, bytes[i]))
			continue;
		pty_write(&t->pty, bytes + from, (size_t)(i - from));
		from = i + 1;
		suspend(t);
	}
	pty_write(&t->pty, bytes + from, (size_t)(n - from));
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Reads output; returns false if there is none. Our side stays open when the command closes its
 * own: a hangup would end a command that continues without its streams. */
static bool read_output(struct headless_tty *t)
{
	char bytes[CHUNK];
	ssize_t n = read(t->pty.fd, bytes, sizeof(bytes));

	if (n > 0 && t->pty.tap)
		t->pty.tap(t->pty.tap_data, bytes, (size_t)n);
	if (n > 0)
		term_filter_feed(&t->filter, bytes, (size_t)n, &t->out);
	t->unused = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
	return n > 0;
}

/* Writes output. A stopped terminal accepts nothing; poll(2) reported room before. */
static void write_output(struct headless_tty *t)
{
	ssize_t n = write(t->terminal, t->out.data + t->sent, MIN(t->out.len - t->sent, CHUNK));

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		t->sent = t->out.len; /* it is gone */
	t->sent += n > 0 ? (size_t)n : 0;
	if (t->sent == t->out.len) {
		buf_clear(&t->out);
		t->sent = 0;
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Sets the pty's modes to the terminal's, without those that the terminal itself still carries
 * out. */
static void set_modes(const struct headless_tty *t)
{
	struct termios modes = t->before;

	if (!t->typed)
		modes.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(t->slave, TCSANOW, &modes);
}

int headless_tty_open(struct headless_tty *t, struct session_spec *spec, struct err *err)
{
	static const int preferred[] = {STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO};
	int r;

	*t = (struct headless_tty){.pty = PTY_INIT,
				   .slave = -1,
				   .terminal = -1,
				   .filter.ascii = !terminal_here_is_utf8()};
	for (size_t i = 0; i < ARRAY_LEN(preferred) && t->terminal < 0; i++)
		if (tcgetattr(preferred[i], &t->before) == 0)
			t->terminal = preferred[i];
	if (t->terminal < 0)
		return 0;
	t->size = (struct winsize){.ws_row = 24, .ws_col = 80};
	r = pty_open(&t->pty, t->size.ws_row, t->size.ws_col, &t->slave, err);
	if (r < 0)
		return r;
	t->typed = isatty(STDIN_FILENO);
	copy_size(t);
	set_modes(t);
	for (int fd = 0; fd < 3; fd++)
		if (isatty(fd))
			spec->stdio[fd] = t->slave;
	spec->tty = t->typed;
	return 0;
}

void headless_tty_started(struct headless_tty *t)
{
	util_close_fd(&t->slave);
	t->slave = -1;
	take_keys(t);
}

void headless_tty_polls(const struct headless_tty *t, struct pollfd p[HEADLESS_TTY_POLLS])
{
	bool full = t->pty.queue.len - t->pty.sent > TYPED_AHEAD;

	p[POLL_PTY] = (struct pollfd){.fd = t->out.len ? -1 : t->pty.fd, .events = POLLIN};
	p[POLL_KEYS] =
		(struct pollfd){.fd = t->reads && !full ? STDIN_FILENO : -1, .events = POLLIN};
	p[POLL_OUTPUT] = (struct pollfd){.fd = t->out.len ? t->terminal : -1, .events = POLLOUT};
	if (t->pty.fd >= 0 && pty_wants_write(&t->pty)) {
		p[POLL_PTY].fd = t->pty.fd;
		p[POLL_PTY].events |= POLLOUT;
	}
	if (t->unused) /* poll(2) would return at once */
		p[POLL_PTY].fd = -1;
}

void headless_tty_ready(struct headless_tty *t, const struct pollfd p[HEADLESS_TTY_POLLS])
{
	if (p[POLL_PTY].revents & POLLOUT)
		pty_flush(&t->pty);
	if ((t->unused || p[POLL_PTY].revents & (POLLIN | POLLHUP)) && !t->out.len)
		read_output(t);
	if (p[POLL_KEYS].revents)
		read_keys(t);
	if (p[POLL_OUTPUT].revents)
		write_output(t);
}

bool headless_tty_signal(struct headless_tty *t, int sig)
{
	if (sig == SIGWINCH && t->pty.fd >= 0)
		copy_size(t);
	if (sig == SIGCONT)
		take_keys(t);
	return sig == SIGWINCH || sig == SIGCONT;
}

void headless_tty_close(struct headless_tty *t)
{
	util_close_fd(&t->slave);
	if (t->terminal >= 0) {
		while (t->pty.fd >= 0 && read_output(t))
			;
		term_filter_end(&t->filter, &t->out);
		io_write_all(t->terminal, t->out.data + t->sent, t->out.len - t->sent);
	}
	give_keys_back(t);
	buf_done(&t->out);
	pty_done(&t->pty);
}
