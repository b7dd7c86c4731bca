/* child_message - messages between the keeper and the processes that it starts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "core/base/io.h"

int child_message_pair(int fds[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "make a socket pair");
	return 0;
}

int child_message_send(int sock, const struct note *note, const int *fds, size_t n)
{
	ssize_t sent = io_send_fds(sock, note, sizeof(*note), fds, n, 0);

	return sent < 0 ? (int)sent : 0;
}

int child_message_recv(int sock, struct note *note, int *fds, size_t n)
{
	size_t n_fds = 0;
	ssize_t got;

	for (size_t i = 0; i < n; i++)
		fds[i] = -1;
	got = io_recv_fds(sock, note, sizeof(*note), fds, &n_fds, n, 0);
	if (got <= 0)
		return (int)got;
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
