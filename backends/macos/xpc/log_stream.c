/* log_stream - reads Seatbelt's denials from the log of a Mac while a session runs. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/xpc/log_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/io.h"

#define PREDICATE     "processID == 0 AND sender == \"Sandbox\""
#define INSIDE_MAX    1024
#define LOOK_FRESH_US 1000000 /* older process numbers may have been reused */
#define LOOK_AGAIN_US 20000
#define READ_SIZE     4096
#define READS	      16 /* per turn of the loop */

struct look { /* the processes inside */
	pid_t list[INSIDE_MAX];
	size_t n;
	int64_t at_us; /* 0: not read yet */
};

struct log_stream {
	struct log_stream_spec spec;
	struct look look;
	pid_t pid;
	int fd;
	struct buf line;
	bool skipping; /* the rest of an overlong line */
};

/* ---- the child process ----------------------------------------------------------------------- */

static int spawn(struct log_stream *l, int out)
{
	char *const env[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
	char *const argv[] = {(char[]){"log"},
			      (char[]){"stream"},
			      (char[]){"--style"},
			      (char[]){"ndjson"},
			      (char[]){"--predicate"},
			      (char[]){PREDICATE},
			      NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int r;

	sigemptyset(&none);
	sigfillset(&usual);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attr);
	/* In a process group of its own it does not get the terminal's Ctrl-C. */
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setsigdefault(&attr, &usual);
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	(void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = -posix_spawn(&l->pid, l->spec.program, &actions, &attr, argv, env);
	if (r < 0)
		l->pid = 0;
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attr);
	return r;
}

int log_stream_start(struct log_stream **ret, const struct log_stream_spec *spec, struct err *err)
{
	struct log_stream *l;
	int fds[2], r;

	if (pipe(fds) < 0)
		return err_set(err, -errno, "make a pipe");
	l = xcalloc(1, sizeof(*l));
	l->spec = *spec;
	l->fd = fds[0];
	(void)io_set_cloexec(fds[0], true);
	(void)io_set_cloexec(fds[1], true);
	r = fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : spawn(l, fds[1]);
	(void)close(fds[1]);
	if (r < 0) {
		log_stream_stop(l);
		return err_set(err, r, "run '%s stream'", spec->program);
	}
	*ret = l;
	return 0;
}

int log_stream_fd(const struct log_stream *l)
{
	return l->fd;
}

void log_stream_stop(struct log_stream *l)
{
	if (!l)
		return;
	if (l->pid > 0) {
		(void)kill(l->pid, SIGKILL);
		while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	(void)close(l->fd);
	buf_done(&l->line);
	free(l);
}

void log_stream_root_ended(struct log_stream *l)
{
	l->spec.root = 0;
}

/* ---- lines of the log ------------------------------------------------------------------------ */

static bool was_inside(const struct look *look, pid_t pid)
{
	for (size_t i = 0; i < look->n; i++)
		if (look->list[i] == pid)
			return true;
	return false;
}

/* Returns whether the process is inside. Lists the processes again for an unknown one, but not at
 * each line of a flood. */
static bool is_inside(struct log_stream *l, pid_t pid)
{
	const struct log_stream_spec *s = &l->spec;
	struct look *look = &l->look;
	int64_t now = clock_mono_us();

	if (look->at_us && now - look->at_us < LOOK_FRESH_US && was_inside(look, pid))
		return true;
	if (look->at_us && now - look->at_us < LOOK_AGAIN_US)
		return false;
	look->n = s->os->list_inside(s->os->data, s->session, s->root, look->list, INSIDE_MAX);
	look->at_us = now;
	return was_inside(look, pid);
}

static void take_line(struct log_stream *l, const char *line, size_t n)
{
	struct violation v;

	if (violation_parse(&v, line, n) == 1 && v.pid > 0 && is_inside(l, v.pid))
		l->spec.seen(l->spec.data, &v);
}

static void take(struct log_stream *l, const char *data, size_t n)
{
	while (n) {
		const char *end = memchr(data, '\n', n);
		size_t part = end ? (size_t)(end - data) : n;

		if (l->skipping || l->line.len + part > LOG_STREAM_LINE_MAX)
			l->skipping = true;
		else
			buf_add(&l->line, data, part);
		if (end && !l->skipping && l->line.len)
			take_line(l, l->line.data, l->line.len);
		if (end || l->skipping)
			buf_clear(&l->line);
		if (end)
			l->skipping = false;
		part += end != NULL;
		data += part;
		n -= part;
	}
}

bool log_stream_read(struct log_stream *l)
{
	char data[READ_SIZE];

	for (int i = 0; i < READS; i++) {
		ssize_t n = read(l->fd, data, sizeof(data));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		if (n == 0)
			return false;
		take(l, data, (size_t)n);
	}
	return true;
}
