/* probe_notify - the trials that need a second process under a filter. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/probe/probe_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/door/filter.h"
#include "core/base/io.h"

/* For headers older than Linux 5.14. */
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

/* Sends the listener, or the negative errno that says why there is none. */
static int hand_over(int sock, int listener)
{
	int code = listener < 0 ? -errno : 0, r = io_send_fd(sock, &code, sizeof(code), listener);

	if (r == 0)
		return code;
	/* ETOOMANYREFS: the user's programs have too many descriptors in flight. */
	if (io_send_fd(sock, &r, sizeof(r), -1) < 0)
		return -EPIPE;
	return r;
}

/*
 * Runs a child that traps getppid(), sends the listener and calls it. It gets the parent's answer.
 * Exit status 0: the answer is a readable descriptor.
 */
static NORETURN void trapped_child(int sock)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter copy[ARRAY_LEN(code)];
	const struct sock_fprog prog = {.len = ARRAY_LEN(code), .filter = copy};
	int listener, answer;

	memcpy(copy, code, sizeof(copy));
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	if (hand_over(sock, listener) < 0)
		_exit(1);
	answer = (int)syscall(SYS_getppid);
	_exit(answer < 0 || fcntl(answer, F_GETFD) < 0);
}

/* Receives what hand_over() sent. */
static int take_over(int sock, int *ret_listener)
{
	int code = 0;
	ssize_t n = io_recv_fd(sock, &code, sizeof(code), ret_listener);

	if (n != (ssize_t)sizeof(code))
		return n < 0 ? (int)n : -EPIPE; /* the child has died */
	/* Without a listener this process had no free descriptor. */
	return code < 0 ? code : *ret_listener < 0 ? -EMFILE : 0;
}

/* Forks the child and receives its call. The caller owns *ret_listener and *pid. */
static int receive(char *found, size_t size, pid_t *pid, int *ret_listener, uint64_t *ret_id)
{
	struct seccomp_notif request = {0};
	int socks[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return probe_failed(found, size, "socketpair");
	*pid = fork();
	if (*pid == 0) {
		close(socks[0]);
		trapped_child(socks[1]);
	}
	r = *pid < 0 ? -errno : 0;
	close(socks[1]);
	if (r == 0)
		r = take_over(socks[0], ret_listener);
	close(socks[0]);
	if (r < 0) {
		errno = -r;
		return probe_failed(found, size, PROBE_NO_LISTENER);
	}
	if (ioctl(*ret_listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return probe_failed(found, size, "receive a trapped call");
	*ret_id = request.id;
	return 0;
}

static int finish(pid_t pid)
{
	int status = 1;

	/* No child was made, and kill(-1) would reach all processes. */
	if (pid <= 0)
		return status;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

int probe_notify(char *found, size_t size)
{
	AUTO_CLOSE int listener = -1;
	AUTO_CLOSE int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct seccomp_notif_addfd answer = {.flags = SECCOMP_ADDFD_FLAG_SEND,
					     .srcfd = (uint32_t)null};
	uint64_t id = 0;
	int r, status;
	pid_t pid = -1;

	r = receive(found, size, &pid, &listener, &id);
	answer.id = id;
	if (r == 0 && ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &answer) < 0)
		r = probe_failed(found, size, "answer a trapped call with a descriptor");
	if (r < 0) {
		finish(pid);
		return r;
	}
	if (waitpid(pid, &status, 0) < 0 || status != 0) {
		snprintf(found, size, "the answer did not arrive");
		return -EPROTO;
	}
	snprintf(found, size, "a call was answered with a descriptor");
	return 0;
}

int probe_getfd(char *found, size_t size)
{
	AUTO_CLOSE int listener = -1;
	AUTO_CLOSE int pidfd = -1;
	AUTO_CLOSE int copy = -1;
	uint64_t id;
	pid_t pid = -1;
	int r;

	r = receive(found, size, &pid, &listener, &id);
	if (r == 0) {
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		copy = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, 2, 0);
		if (copy < 0)
			r = probe_failed(found, size, "pidfd_getfd");
	}
	finish(pid);
	if (r == 0)
		snprintf(found, size, "a descriptor was duplicated");
	return r;
}

int probe_wait_killable(char *found, size_t size)
{
	if (!filter_wait_killable()) {
		snprintf(found, size, "a signal interrupts a held call");
		return -EOPNOTSUPP;
	}
	snprintf(found, size, "a signal waits until the call is answered");
	return 0;
}
