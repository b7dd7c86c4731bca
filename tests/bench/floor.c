/* floor - the least possible cost of trap and perform: no policy, no journal, no checks. */
/* SPDX-License-Identifier: MIT */
/* usage: floor COMMAND ARG...
 *
 * Runs COMMAND with cordon's own filter and the simplest keeper: it opens a file for writing by
 * path and hands the descriptor over; every other trapped call continues at once. The cost above
 * native is the kernel's: two switches and a wake-up for each trapped call. No keeper can be
 * faster; make bench shows it beside cordon. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/door/filter.h"
#include "core/base/io.h"
#include "core/base/util.h"

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)
#endif

static int caller_dir(int tid, int dirfd)
{
	static int of, cwd = -1;
	char path[64];

	if (dirfd == AT_FDCWD && of == tid)
		return cwd;
	if (dirfd == AT_FDCWD)
		snprintf(path, sizeof(path), "/proc/%d/cwd", tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, dirfd);
	if (cwd >= 0)
		close(cwd);
	of = dirfd == AT_FDCWD ? tid : 0;
	return cwd = open(path, O_PATH | O_CLOEXEC);
}

/* Returns false if the call was not an open, or could not be performed. */
static bool perform_open(int listener, const struct seccomp_notif *in)
{
	const __u64 *args = in->data.args;
	struct seccomp_notif_addfd add = {.id = in->id, .flags = SECCOMP_ADDFD_FLAG_SEND};
	struct iovec local, remote;
	char path[256];
	ssize_t n;
	int fd;

	if (in->data.nr != SYS_openat)
		return false;
	local = (struct iovec){path, sizeof(path)};
	remote = (struct iovec){(void *)(uintptr_t)args[1], sizeof(path)};
	n = process_vm_readv((pid_t)in->pid, &local, 1, &remote, 1, 0);
	if (n <= 0 || memchr(path, '\0', (size_t)n) == NULL)
		return false;
	fd = openat(caller_dir((int)in->pid, (int)args[0]), path, (int)args[2] | O_CLOEXEC,
		    (mode_t)args[3] & 0755);
	if (fd < 0)
		return false;
	add.srcfd = (__u32)fd;
	add.newfd_flags = (__u32)args[2] & O_CLOEXEC;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0)
		fprintf(stderr, "floor: %s: %s\n", path, strerror(errno));
	close(fd);
	return true;
}

static void serve(int listener)
{
	struct seccomp_notif in;
	struct seccomp_notif_resp out;
	struct pollfd p = {.fd = listener, .events = POLLIN};

	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	for (;;) {
		if (poll(&p, 1, -1) < 0 || !(p.revents & POLLIN))
			return;
		memset(&in, 0, sizeof(in));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0 ||
		    perform_open(listener, &in))
			continue;
		out = (struct seccomp_notif_resp){.id = in.id,
						  .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
	}
}

static void start(int sock, char **argv)
{
	static const struct filter_spec spec;
	int listener = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (filter_install(&spec, &listener) < 0 || io_send_fd(sock, "x", 1, listener) < 0)
		_exit(125);
	close(listener);
	close(sock);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	int pair[2], listener = -1, status = 0;
	char byte;
	pid_t pid;

	if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return 125;
	pid = fork();
	if (pid == 0)
		start(pair[1], argv + 1);
	close(pair[1]);
	umask(0);
	if (pid < 0 || io_recv_fd(pair[0], &byte, 1, &listener) != 1)
		return 125;
	serve(listener);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
