/* task - one job of the runner: its process, terminal or pipes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/api/inside/inside_priv.h"
#include "core/base/io.h"
#include "core/os/process.h"
#include "core/os/signals.h"
#include "core/os/socket.h"

extern char **environ;

/* ---- orders ---------------------------------------------------------------------------------- */

/* Returns the next string of the bytes; NULL: there are no more. */
static char *next_text(char **at, const char *end)
{
	char *text = *at;

	if (text >= end)
		return NULL;
	*at = text + strlen(text) + 1;
	return text;
}

int task_order_parse(struct order *o, const struct runner_head *h, char *bytes, size_t len,
		     struct err *err)
{
	char *at = bytes;
	const char *end = bytes + len, *count;
	char *text;

	*o = (struct order){.flags = h->a, .columns = h->b >> 16, .rows = h->b & 0xffff};
	if (!len || bytes[len - 1])
		return err_say(err, -EBADMSG, "not an order");
	o->label = next_text(&at, end);
	o->cwd = next_text(&at, end);
	count = next_text(&at, end);
	if (!o->label || !o->cwd || !count)
		return err_say(err, -EBADMSG, "not an order");
	o->n_env = strtoul(count, NULL, 10);
	o->env = xcalloc(len + 1, sizeof(*o->env)); /* each has at least one byte */
	o->argv = xcalloc(len + 1, sizeof(*o->argv));
	for (size_t i = 0; i < o->n_env && (text = next_text(&at, end)); i++)
		o->env[i] = text;
	while ((text = next_text(&at, end)))
		o->argv[o->n_argv++] = text;
	return o->n_argv ? 0 : err_say(err, -EINVAL, "no command");
}

void task_order_done(struct order *o)
{
	free(o->env);
	free(o->argv);
}

/* ---- the child ------------------------------------------------------------------------------- */

struct ends { /* the child's ends */
	int in, out, err;
};

static void close_ends(struct ends *e)
{
	if (e->err != e->out)
		util_close_fd(&e->err);
	if (e->in != e->out)
		util_close_fd(&e->in);
	util_close_fd(&e->out);
}

static NORETURN void child(const struct order *o, const struct ends *e)
{
	os_signals_usual();
	setsid();
	if (dup2(e->in, 0) < 0 || dup2(e->out, 1) < 0 || dup2(e->err, 2) < 0)
		_exit(126);
	if (o->flags & RUN_TTY)
		ioctl(0, TIOCSCTTY, 0);
	os_close_range(3, ~0u);
	if (chdir(o->cwd) < 0)
		_exit(files_fail(errno, "the working directory", o->cwd));
	if ((o->flags & RUN_WHAT) != RUN_PROGRAM)
		_exit(files_run(o));
	for (size_t i = 0; i < o->n_env && o->env[i]; i++)
		putenv(o->env[i]);
	execvp(o->argv[0], o->argv);
	dprintf(2, "cordon: %s: %s\n", o->argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int make_pipe(int *read_end, int *write_end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*read_end = fds[0];
	*write_end = fds[1];
	return 0;
}

static int open_pipes(struct task *t, const struct order *o, struct ends *e)
{
	int r = make_pipe(&t->out[0], &e->out);

	if (r == 0)
		r = make_pipe(&t->out[1], &e->err);
	if (r == 0 && o->flags & RUN_INPUT)
		r = make_pipe(&e->in, &t->in);
	else if (r == 0) {
		e->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
		r = e->in < 0 ? -errno : 0;
	}
	return r;
}

static int open_tty(struct task *t, const struct order *o, struct ends *e)
{
	const char *name;

	t->out[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (t->out[0] < 0 || grantpt(t->out[0]) < 0 || unlockpt(t->out[0]) < 0)
		return -errno;
	task_resize(t, o->columns, o->rows);
	name = ptsname(t->out[0]);
	e->out = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	if (e->out < 0)
		return -errno;
	e->in = e->err = e->out;
	t->in = fcntl(t->out[0], F_DUPFD_CLOEXEC, 3);
	return t->in < 0 ? -errno : 0;
}

void task_resize(const struct task *t, unsigned columns, unsigned rows)
{
	const struct winsize size = {.ws_col = (unsigned short)columns,
				     .ws_row = (unsigned short)rows};

	ioctl(t->out[0], TIOCSWINSZ, &size);
}

int task_start(struct task *t, const struct order *o, struct err *err)
{
	struct ends e = {-1, -1, -1};
	int r;

	t->tty = o->flags & RUN_TTY;
	r = t->tty ? open_tty(t, o, &e) : open_pipes(t, o, &e);
	if (r == 0) {
		t->pid = fork();
		if (t->pid == 0)
			child(o, &e);
		r = t->pid < 0 ? -errno : 0;
	}
	close_ends(&e);
	if (r < 0) {
		util_close_fd(&t->out[0]);
		util_close_fd(&t->out[1]);
		util_close_fd(&t->in);
		return err_set(err, r, "start it");
	}
	for (int i = 0; i < 2; i++)
		if (t->out[i] >= 0)
			io_set_nonblock(t->out[i], true);
	if (t->in >= 0)
		io_set_nonblock(t->in, true);
	return 0;
}
