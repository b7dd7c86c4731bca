/* step_ask - for programs inside: a request to the keeper about the step that is open. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/step_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/keeper/service.h"
#include "core/os/socket.h"

/* A virtual machine's first program takes it, and answers when the keeper has. */
static int ask_guest(const char *request)
{
	const struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = STEP_SOCKET};
	AUTO_CLOSE int fd = socket(AF_UNIX, OS_PACKETS | SOCK_CLOEXEC, 0);
	size_t len = strlen(request);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	if (send(fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		return -EIO;
	return take_fd(&fd);
}

/* The keeper takes the open for the request; no file of that name is anywhere. */
int step_ask(const char *request)
{
	AUTO_FREE char *path = xasprintf(STEP_PATH "%s", request);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? ask_guest(request) : -errno;
}
