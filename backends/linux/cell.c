/* cell - the namespaces of a sandbox and their pid 1: what holds for every way to make them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/sandbox.h"

void cell_init(struct cell *c)
{
	*c = (struct cell){.pidfd = -1, .sock = -1, .words = -1, .root = -1, .user = -1};
	for (size_t i = 0; i < NS_COUNT; i++)
		c->ns[i] = -1;
}

void cell_kill(const struct cell *c)
{
	if (c->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
	/* A pid of ours that has not been waited for is still ours. */
	if (c->child > 0)
		kill(c->child, SIGKILL);
}

void cell_leave(struct cell *c)
{
	util_close_fd(&c->root);
	util_close_fd(&c->user);
	for (size_t i = 0; i < NS_COUNT; i++)
		util_close_fd(&c->ns[i]);
}

void cell_done(struct cell *c)
{
	cell_leave(c);
	cell_kill(c);
	while (c->child > 0 && waitpid(c->child, NULL, 0) < 0 && errno == EINTR)
		continue;
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

/* Root keeps every id, so that owners mean inside what they mean outside. */
int cell_write_maps(pid_t pid, struct err *err)
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

int cell_expect(int sock, enum note_kind kind, int *fds, size_t n, int *ret_status, struct err *err)
{
	struct note note;
	int r = note_recv(sock, &note, fds, n);

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

int cell_take(struct cell *c, int *ret_status, struct err *err)
{
	int fds[NOTE_FDS], r;

	r = cell_expect(c->sock, NOTE_BUILT, fds, NOTE_FDS, ret_status, err);
	if (r < 0)
		return err_wrap(err, r, "build the sandbox");
	c->root = fds[0];
	for (size_t i = 0; i < NS_COUNT; i++)
		c->ns[i] = fds[i + 1];
	return 0;
}
