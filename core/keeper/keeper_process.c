/* keeper_process - the signals and descriptors that the keeper's process inherits. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/keeper_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/spec.h"
#include "core/policy/written.h"

static void on_signal(int sig)
{
	(void)sig; /* cordon decides when the keeper ends; an exec sets the default again */
}

void keeper_process_signals(void)
{
	static const int caught[] = {SIGINT,  SIGQUIT, SIGHUP,	SIGTERM, SIGPIPE,
				     SIGUSR1, SIGUSR2, SIGTSTP, SIGALRM};
	struct sigaction old, act = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &old) < 0)
			continue;
		if (old.sa_handler == SIG_DFL)
			continue;
		if (old.sa_handler != SIG_IGN || sig == SIGPIPE || sig == SIGCHLD)
			sigaction(sig, &act, NULL);
	}
	act.sa_handler = on_signal;
	act.sa_flags = SA_RESTART;
	for (size_t i = 0; i < ARRAY_LEN(caught); i++) {
		sigaction(caught[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(caught[i], &act, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool is_kept(const struct keeper_spec *spec, int fd)
{
	if (fd == spec->sock)
		return true;
	for (int i = 0; spec->spawn && i < 3; i++) {
		if (fd == spec->spawn->stdio[i])
			return true;
	}
	return false;
}

/*
 * libuv, where a loop ran before this fork, has a handler that each later fork runs in the child
 * (uv__signal_global_reinit): it closes two descriptors that we are about to close, by number. So
 * no descriptor of ours gets such a number. They are below `bound`: the handler has run already, at
 * the fork of this process, and took the lowest free ones.
 */
static void spare_numbers(int null, int bound)
{
	int fd;

	do
		fd = fcntl(null, F_DUPFD_CLOEXEC, 3);
	while (fd >= 0 && fd < bound);
	if (fd >= bound)
		close(fd);
}

void keeper_process_close(const struct keeper_spec *spec)
{
	int keep[9], n = 0, null, free_from = fcntl(spec->sock, F_DUPFD_CLOEXEC, 3);

	if (spec->spawn && spec->spawn->lifeline > 0)
		keep[n++] = spec->spawn->lifeline;
	if (spec->broker > 0)
		keep[n++] = spec->broker;
	if (spec->spawn && spec->spawn->secrets)
		keep[n++] = spec->spawn->secrets_sock;
	keep[n++] = spec->sock;
	keep[n++] = written_fd();
	if (spec->log_fd > 2)
		keep[n++] = spec->log_fd;
	else
		log_open(-1, LOG_ERROR, NULL); /* another file will have its number */
	for (int i = 0; spec->spawn && i < 3; i++)
		keep[n++] = spec->spawn->stdio[i];
	io_close_all_but(3, keep, (size_t)n);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null >= 0; fd++) {
		if (!is_kept(spec, fd))
			dup2(null, fd);
	}
	spare_numbers(null, free_from);
	if (null > 2)
		close(null);
}

void keeper_process_drop_stdio(const struct keeper_spec *spec, int null)
{
	for (int i = 0; spec->spawn && i < 3; i++) {
		if (spec->spawn->stdio[i] > 2)
			close(spec->spawn->stdio[i]);
	}
	if (spec->spawn && spec->spawn->lifeline > 0)
		close(spec->spawn->lifeline);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
}

void keeper_process_raise_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}
