/* child_message - messages between the keeper and the processes that it starts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"

union control {
	char room[CMSG_SPACE(NOTE_FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

int child_message_pair(int fds[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "make a socket pair");
	return 0;
}

int child_message_send(int sock, const struct note *note, const int *fds, size_t n)
{
	struct note copy = *note;
	struct iovec iov = {.iov_base = &copy, .iov_len = sizeof(copy)};
	union control control = {0};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n) {
		struct cmsghdr *c;

		msg.msg_control = control.room;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		if (!c)
			return -EINVAL;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static void take_fds(struct cmsghdr *c, int *fds, size_t n)
{
	size_t got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < got; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		if (i < n)
			fds[i] = fd;
		else
			close(fd);
	}
}

int child_message_recv(int sock, struct note *note, int *fds, size_t n)
{
	struct iovec iov = {.iov_base = note, .iov_len = sizeof(*note)};
	union control control = {0};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.room,
			     .msg_controllen = sizeof(control.room)};
	ssize_t got;

	for (size_t i = 0; i < n; i++)
		fds[i] = -1;
	do
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			take_fds(c, fds, n);
	}
	if (got == 0)
		return 0;
	if (got != (ssize_t)sizeof(*note)) {
		for (size_t i = 0; i < n; i++)
			util_close_fd(&fds[i]);
		return -EBADMSG;
	}
	note->text[sizeof(note->text) - 1] = '\0';
	return 1;
}

NORETURN void child_message_fail(int sock, int status, const struct err *err)
{
	struct note note = {.kind = NOTE_FAILED, .code = err->code, .status = status};

	snprintf(note.text, sizeof(note.text), "%.*s", (int)sizeof(note.text) - 1, err->text);
	child_message_send(sock, &note, NULL, 0);
	_exit(status);
}

int child_message_not_found(const char *name, struct err *err)
{
	const char *advice = ": install it, or say its path if it is not in PATH";

	if (strpbrk(name, " |&;<>"))
		advice = ": a line for a shell is run by sh -c 'LINE'";
	else if (strchr(name, '/'))
		advice = "";
	return err_say(err, -ENOENT, "'%s': command not found inside the sandbox%s", name, advice);
}
