/* jobs - starts a command in the guest, on pipes or on a terminal. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

static void set_size(int fd, const struct message *m)
{
	struct winsize size = {.ws_row = (unsigned short)(m->rows > 0 ? m->rows : 24),
			       .ws_col = (unsigned short)(m->cols > 0 ? m->cols : 80)};

	ioctl(fd, TIOCSWINSZ, &size);
}

void job_resize(const struct job *j, const struct message *m)
{
	if (j->tty && j->in >= 0)
		set_size(j->in, m);
}

/* Runs the command in the child. ends[0..2] become its descriptors 0, 1, 2. */
static void child(const struct job *j, const struct message *m, const int ends[3], int report)
{
	sigset_t none;
	int code;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	setsid();
	for (int i = 0; i < 3; i++)
		if (dup2(ends[i], i) < 0)
			goto failed;
	if (j->tty && (ioctl(0, TIOCSCTTY, 0) < 0 || fchown(0, (uid_t)m->uid, 5) < 0))
		goto failed;
	if (!limits_enter(m) || setgroups(0, NULL) < 0 || setgid((gid_t)m->gid) < 0 ||
	    setuid((uid_t)m->uid) < 0)
		goto failed;
	if (m->cwd && chdir(m->cwd) < 0)
		goto failed;
	if (m->env)
		environ = m->env;
	execvp(m->argv[0], m->argv);
failed:
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(125);
	_exit(127);
}

static int open_tty(struct job *j, const struct message *m, int ends[3])
{
	const char *name;

	j->in = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (j->in < 0 || grantpt(j->in) < 0 || unlockpt(j->in) < 0)
		return -1;
	set_size(j->in, m);
	name = ptsname(j->in);
	ends[0] = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	ends[1] = ends[2] = ends[0];
	j->out = j->in;
	return ends[0] < 0 ? -1 : 0;
}

static int open_pipes(struct job *j, int ends[3])
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		return -1;
	ends[0] = in[0];
	j->in = in[1];
	if (pipe2(out, O_CLOEXEC) < 0)
		return -1;
	ends[1] = out[1];
	j->out = out[0];
	if (pipe2(err, O_CLOEXEC) < 0)
		return -1;
	ends[2] = err[1];
	j->err = err[0];
	/* Only the shim's ends are nonblocking: programs expect blocking ones. */
	fcntl(j->in, F_SETFL, O_NONBLOCK);
	fcntl(j->out, F_SETFL, O_NONBLOCK);
	fcntl(j->err, F_SETFL, O_NONBLOCK);
	return 0;
}

void job_close(struct job *j)
{
	const int fds[] = {j->report, j->in, j->tty ? -1 : j->out, j->err};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	j->used = false;
}

int job_start(struct job *j, const struct message *m)
{
	int ends[3] = {-1, -1, -1}, report[2], r;

	*j = (struct job){.id = m->id,
			  .used = true,
			  .tty = m->tty,
			  .report = -1,
			  .in = -1,
			  .out = -1,
			  .err = -1};
	r = j->tty ? open_tty(j, m, ends) : open_pipes(j, ends);
	if (r == 0)
		r = pipe2(report, O_CLOEXEC | O_NONBLOCK);
	if (r == 0) {
		j->report = report[0];
		j->pid = limits_make(m) ? fork() : -1;
		if (j->pid == 0)
			child(j, m, ends, report[1]);
		close(report[1]);
		r = j->pid < 0 ? -1 : 0;
	}
	for (int i = 0; i < 3; i++)
		if (ends[i] >= 0 && (i == 0 || ends[i] != ends[0]))
			close(ends[i]);
	return r;
}
