/* warden - ends what is inside if the keeper dies. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/macos/launch/ending.h"
#include "core/base/util.h"
#include "core/os/process.h"
#include "core/os/socket.h"

struct warden {
	pid_t pid;
	int pipe; /* a byte: all is well; its end: the keeper is dead */
};

/* Nobody can be told of who does not go; but nobody is given up on who is still being found. */
static void end_all(const struct mac_os *os, const char *session)
{
	const struct ending e = {.os = os,
				 .session = session,
				 .kill = kill,
				 .round_us = 10000,
				 .patience = 3000,
				 .quiet = 20};

	(void)end_inside(&e);
}

static NORETURN void watch(int fd, const struct mac_os *os, const char *session)
{
	char c;
	ssize_t n;

	(void)setsid(); /* the terminal's end is not its own */
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	if (fd > 3)
		os_close_range(3, (unsigned)fd - 1);
	os_close_range((unsigned)fd + 1, ~0u);
	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		end_all(os, session);
	_exit(0);
}

int warden_start(struct warden **ret, const struct mac_os *os, const char *session, struct err *err)
{
	struct warden *w = xcalloc(1, sizeof(*w));
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		r = err_set(err, -errno, "make a pipe");
		free(w);
		return r;
	}
	w->pid = fork();
	if (w->pid == 0) {
		(void)close(fds[1]);
		watch(fds[0], os, session);
	}
	r = w->pid < 0 ? err_set(err, -errno, "start a process") : 0;
	(void)close(fds[0]);
	w->pipe = fds[1];
	if (r < 0) {
		(void)close(w->pipe);
		free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void warden_stop(struct warden *w)
{
	if (!w)
		return;
	(void)!write(w->pipe, "", 1);
	(void)close(w->pipe);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(w);
}

void warden_leave(struct warden *w)
{
	if (!w)
		return;
	(void)close(w->pipe);
	free(w);
}
