/* lock_linux - the process that answers the kernel's questions whether a program may open a
 * file. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fanotify.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/watch/lock_priv.h"

/* The process is apart from the keeper, which opens files of the folders itself and would wait for
 * its own answer. This process opens no file below a mark, and directories cause no events, so it
 * cannot wait for itself either. It never blocks, and it answers each event before it reads the
 * next. */
struct lock {
	pid_t pid;
	int sock; /* SOCK_SEQPACKET, one struct lock_refusal a message */
};

struct guard {
	struct marks marks;
	struct who own;
	const char *const *folders;
	int sock;
};

/* ---- in the process ----------------------------------------------------------------------------
 */

/* Keeps only what it needs: to read the arguments of other processes' calls, and to open every
 * directory. */
static void drop_capabilities(void)
{
	const uint64_t keep = 1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH;
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{.effective = (uint32_t)keep, .permitted = (uint32_t)keep}};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capset, &head, data) < 0)
		_exit(1);
}

static bool in_folders(const struct guard *g, const char *path)
{
	for (size_t i = 0; g->folders[i]; i++)
		if (path_is_beneath(path, g->folders[i]))
			return true;
	return false;
}

static void program_of(int tid, char *out, size_t size)
{
	char path[32];
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : io_read_full(fd, out, size - 1);
	n = MAX(n, (ssize_t)0);
	out[n] = '\0';
	if (n > 0 && out[n - 1] == '\n')
		out[n - 1] = '\0';
}

static bool refuses(const struct guard *g, const struct fanotify_event_metadata *e)
{
	struct lock_refusal say = {.pid = e->pid};
	char link[32];
	ssize_t n;

	if (who_only_reads(e->pid) || who_is_own(&g->own, e->pid))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
	n = readlink(link, say.path, sizeof(say.path) - 1);
	if (n <= 0 || !in_folders(g, say.path)) /* a directory that was moved out keeps its mark */
		return false;
	program_of(e->pid, say.program, sizeof(say.program));
	/* If the queue is full, the keeper is busy, and the user has had many such messages. */
	(void)send(g->sock, &say, sizeof(say), MSG_DONTWAIT | MSG_NOSIGNAL);
	return true;
}

static void answer(const struct guard *g)
{
	_Alignas(struct fanotify_event_metadata) char buf[8192];
	ssize_t len = read(g->marks.opens, buf, sizeof(buf));
	struct fanotify_event_metadata *e = (void *)buf;

	for (; FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len)) {
		struct fanotify_response r = {.fd = e->fd};

		if (e->fd < 0)
			continue;
		r.response = refuses(g, e) ? FAN_DENY : FAN_ALLOW;
		if (write(g->marks.opens, &r, sizeof(r)) < 0 && errno != ENOENT)
			_exit(1); /* the kernel then lets all waiting opens go on */
		close(e->fd);
	}
}

static NORETURN void guard_main(const struct guard *g)
{
	struct pollfd p[] = {{.fd = g->marks.opens, .events = POLLIN},
			     {.fd = g->marks.names, .events = POLLIN},
			     {.fd = g->sock, .events = POLLIN}};

	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			_exit(1);
		if (p[0].revents)
			answer(g);
		if (p[1].revents)
			marks_read(&g->marks);
		if (p[2].revents)
			_exit(0);
	}
}

/* Closes the keeper's descriptors: the agent's terminal and the socket to cordon must not stay open
 * here. */
static void close_others(struct guard *g)
{
	int *keep[] = {&g->marks.opens, &g->marks.names, &g->sock};
	const int first = 3, n = (int)ARRAY_LEN(keep);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < n; i++)
		*keep[i] = fcntl(*keep[i], F_DUPFD_CLOEXEC, first + n);
	for (int i = 0; i < n; i++)
		*keep[i] = dup3(*keep[i], first + i, O_CLOEXEC);
	for (int fd = 0; fd < first && null >= 0; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, first + n, ~0u, 0);
}

static NORETURN void child(struct guard *g, pid_t parent)
{
	struct err err = {0};
	char ready = 1;
	int r = 0;

	close_others(g);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "cordon-lock");
	prctl(PR_SET_DUMPABLE, 0);
	if (getppid() != parent)
		_exit(1);
	for (size_t i = 0; r == 0 && g->folders[i]; i++)
		r = marks_add(&g->marks, g->folders[i], &err);
	if (r < 0) {
		(void)send(g->sock, err.text, strlen(err.text) + 1, MSG_NOSIGNAL);
		_exit(1);
	}
	drop_capabilities();
	if (send(g->sock, &ready, 1, MSG_NOSIGNAL) < 0)
		_exit(1);
	guard_main(g);
}

/* ---- in the keeper -----------------------------------------------------------------------------
 */

/* Waits until the marks are set, or returns why they are not. */
static int wait_ready(struct lock *l, struct err *err)
{
	char words[sizeof(err->text)];
	ssize_t n;

	do
		n = recv(l->sock, words, sizeof(words) - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return io_set_nonblock(l->sock, true);
	if (n <= 0)
		return err_say(err, -EIO, "undo.external = lock: its process ended");
	words[n] = '\0';
	return err_say(err, -EIO, "%s", words);
}

int lock_start(struct lock **ret, const char *const *folders, struct err *err)
{
	AUTO_MARKS struct marks marks = {.opens = -1, .names = -1};
	struct guard g = {.folders = folders};
	struct lock *l;
	int pair[2], r = marks_init(&marks, err);
	pid_t parent = getpid();

	if (r < 0)
		return r;
	r = who_init(&g.own);
	if (r < 0)
		return err_set(err, r, "look at /proc/self/exe");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, -errno, "make a socket pair");
	l = xcalloc(1, sizeof(*l));
	*l = (struct lock){.pid = fork(), .sock = pair[0]};
	if (l->pid == 0) {
		close(pair[0]);
		g.marks = marks;
		g.sock = pair[1];
		child(&g, parent);
	}
	close(pair[1]);
	r = l->pid < 0 ? err_set(err, -errno, "start the lock's process") : wait_ready(l, err);
	if (r < 0) {
		lock_stop(l);
		return r;
	}
	*ret = l;
	return 0;
}

int lock_fd(const struct lock *l)
{
	return l->sock;
}

int lock_read(struct lock *l, struct lock_refusal *ret)
{
	ssize_t n = recv(l->sock, ret, sizeof(*ret), MSG_DONTWAIT);

	if (n == (ssize_t)sizeof(*ret))
		return 1;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}

void lock_stop(struct lock *l)
{
	if (!l)
		return;
	close(l->sock);
	while (l->pid > 0 && waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(l);
}
