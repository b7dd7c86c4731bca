/* monitor_stdio - between the agent's standard streams and the guest's ports. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "backends/vm/monitor/monitor_priv.h"
#include "backends/vm/monitor/shim_protocol.h"

#define CHUNK 16384
#define SMALL 4096 /* if poll(2) reports room, a pipe or terminal takes this much */

int stdio_take(struct monitor *m, struct err *err)
{
	struct termios t;

	for (int i = 0; i < 3; i++)
		if (dup2(m->spec->stdio[i], i) < 0)
			return err_set(err, -errno, "take the standard streams");
	m->in = 0;
	if (!m->spec->tty)
		return 0;
	/* Makes the terminal the controlling one, if it has no session or this one. */
	if (ioctl(0, TIOCSCTTY, 0) < 0)
		return err_set(err, -errno, "take the terminal");
	if (tcgetattr(0, &t) < 0)
		return err_set(err, -errno, "look at the terminal");
	cfmakeraw(&t);
	return tcsetattr(0, TCSANOW, &t) < 0 ? err_set(err, -errno, "set the terminal up") : 0;
}

void stdio_size(const struct monitor *m, unsigned *rows, unsigned *cols)
{
	struct winsize size;

	*rows = 24;
	*cols = 80;
	if (m->spec->tty && ioctl(0, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		*rows = size.ws_row;
		*cols = size.ws_col;
	}
}

bool stdio_wants_input(const struct monitor *m)
{
	if (m->in < 0 || m->phase > RUNNING)
		return false;
	if (m->spec->tty) /* the program also gets keys typed before it runs */
		return m->tty_out.len < TTY_MAX;
	/* A guest may claim to have read input. The queue's length limits that, too. */
	return m->phase == RUNNING && m->ahead + CHUNK <= SHIM_INPUT &&
	       m->control_out.len < 4 * SHIM_INPUT;
}

void stdio_read_input(struct monitor *m)
{
	char bytes[CHUNK];
	ssize_t n = read(m->in, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		m->in = -1;
	if (m->spec->tty) {
		buf_add(&m->tty_out, bytes, (size_t)MAX(n, 0));
		return;
	}
	n = MAX(n, 0);
	m->ahead += (size_t)n;
	shim_input(&m->control_out, JOB, bytes, (size_t)n, m->in < 0);
}

void stdio_add(struct monitor *m, bool to_stderr, const char *data, size_t len)
{
	buf_add(&m->out[to_stderr], data, len);
}

void stdio_starting(struct monitor *m, bool on)
{
	static const char begins[] = "starting the virtual machine ...", over[] = "\r\x1b[K";

	if (m->spec->tty)
		stdio_add(m, false, on ? begins : over, (on ? sizeof(begins) : sizeof(over)) - 1);
}

void stdio_write(struct monitor *m, int which)
{
	struct buf *b = &m->out[which];
	ssize_t n = write(1 + which, b->data, MIN(b->len, SMALL));

	if (n > 0)
		buf_drop_front(b, (size_t)n);
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		buf_clear(b); /* no process reads */
}

void stdio_write_all(struct monitor *m)
{
	while (m->out[0].len || m->out[1].len) {
		struct pollfd p[3] = {{.fd = m->out[0].len ? 1 : -1, .events = POLLOUT},
				      {.fd = m->out[1].len ? 2 : -1, .events = POLLOUT},
				      {.fd = m->spec->lifeline > 0 ? m->spec->lifeline : -1}};

		if ((poll(p, 3, -1) < 0 && errno != EINTR) || p[2].revents)
			return;
		for (int i = 0; i < 2; i++)
			if (p[i].revents)
				stdio_write(m, i);
	}
}
