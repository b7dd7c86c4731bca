/* namespaces - the namespaces of a sandbox and their pid 1, for every backend that makes them. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/linux/sandbox/sandbox.h"

#define WAIT_MS 2 /* between two checks for children, if pid 1 has not ended */

void namespaces_init(struct namespaces *c)
{
	*c = (struct namespaces){.pidfd = -1, .sock = -1, .words = -1, .root = -1, .user = -1};
	for (size_t i = 0; i < NS_COUNT; i++)
		c->ns[i] = -1;
}

void namespaces_kill(const struct namespaces *c)
{
	if (c->fenced) {
		shutdown(c->sock, SHUT_RDWR);
		return;
	}
	if (c->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
	/* A pid that was not reaped cannot be reused. The group of that number is bwrap's, with its
	 * child, or does not exist. */
	if (c->child > 0) {
		kill(-c->child, SIGKILL);
		kill(c->child, SIGKILL);
	}
}

void namespaces_leave(struct namespaces *c)
{
	util_close_fd(&c->root);
	util_close_fd(&c->user);
	for (size_t i = 0; i < NS_COUNT; i++)
		util_close_fd(&c->ns[i]);
}

/* Returns whether the process is in a domain below the caller's: Landlock hides the directories of
 * others. A zombie has none. */
static bool is_inside(const char *pid)
{
	char link[300], text[8];

	snprintf(link, sizeof(link), "/proc/%s/cwd", pid);
	return readlink(link, text, sizeof(text)) >= 0;
}

int namespaces_count_inside(bool end)
{
	AUTO_DIR DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		int pid = atoi(e->d_name);
		AUTO_CLOSE int fd = -1;

		if (pid <= 1 || pid == getpid())
			continue;
		/* Opened before the check, so that the checked process is the killed one. */
		fd = end ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
		if (!is_inside(e->d_name))
			continue;
		n++;
		if (fd >= 0)
			syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	}
	return n;
}

/* Kills the processes inside one by one until none is left, because the fence was killed. */
static void sweep(void)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	for (int tries = 0; tries < 2500 && namespaces_count_inside(true) > 0; tries++)
		nanosleep(&pause, NULL);
}

/*
 * Reaps all children. A process that the agent made with CLONE_PARENT is a child of the keeper. pid
 * 1 ends only after all processes of its namespace were reaped, the agent included. If bwrap is the
 * parent of pid 1, it may end first and leave the keeper without a child. A stop is not an end: a
 * process that made the keeper its tracer can cause reports of stops.
 */
static int wait_for_all(const struct namespaces *c)
{
	struct pollfd first = {.fd = c->pidfd, .events = POLLIN};
	pid_t child = c->child, pid;
	int status, ret = 0;

	for (;;) {
		while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			if (pid != child || WIFSTOPPED(status))
				continue;
			ret = status;
			child = 0;
		}
		if ((pid < 0 || child == 0) && (first.fd < 0 || first.revents))
			return ret;
		first.revents = 0;
		poll(&first, 1, WAIT_MS);
	}
}

void namespaces_done(struct namespaces *c)
{
	int status = 0;

	namespaces_leave(c);
	namespaces_kill(c);
	if (c->child > 0)
		status = wait_for_all(c);
	if (c->fenced && status != 0)
		sweep();
	c->child = c->first = 0;
	util_close_fd(&c->pidfd);
	util_close_fd(&c->sock);
	util_close_fd(&c->words);
}

static int write_proc(pid_t pid, const char *name, const char *text)
{
	AUTO_CLOSE int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "%s", text) < 0)
		return -errno;
	return 0;
}

/* Root keeps every id, so that owners are the same inside and outside. */
int namespaces_write_maps(pid_t pid, struct err *err)
{
	static const char all[] = "0 0 4294967295";
	char uid[64], gid[64];
	int r;

	if (geteuid() == 0 && write_proc(pid, "uid_map", all) == 0 &&
	    write_proc(pid, "gid_map", all) == 0)
		return 0;
	snprintf(uid, sizeof(uid), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	r = write_proc(pid, "uid_map", uid);
	if (r == 0)
		r = write_proc(pid, "setgroups", "deny");
	if (r == 0)
		r = write_proc(pid, "gid_map", gid);
	return r < 0 ? err_set(err, r, "map the user ids of the sandbox") : 0;
}

int namespaces_expect(int sock, enum note_kind kind, int *fds, size_t n, int *ret_status,
		      struct err *err)
{
	struct note note;
	int r = child_message_recv(sock, &note, fds, n);

	if (r < 0)
		return err_set(err, r, "wait for the sandbox");
	if (r == 0)
		return err_say(err, -EPIPE, "a process of the sandbox died while it was starting");
	if (note.kind == NOTE_FAILED) {
		*ret_status = note.status;
		return err_say(err, note.code < 0 ? note.code : -EIO, "%s", note.text);
	}
	return note.kind == (int)kind ? 0 : err_say(err, -EPROTO, "unexpected note %d", note.kind);
}

int namespaces_take(struct namespaces *c, int *ret_status, struct err *err)
{
	int fds[NOTE_FDS], r;

	r = namespaces_expect(c->sock, NOTE_BUILT, fds, NOTE_FDS, ret_status, err);
	if (r < 0)
		return err_wrap(err, r, "build the sandbox");
	c->root = fds[0];
	for (size_t i = 0; i < NS_COUNT; i++)
		c->ns[i] = fds[i + 1];
	return 0;
}
