/* step_ask - sends requests about the open step to the keeper, from programs inside. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/step_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/io.h"
#include "core/keeper/service.h"
#include "core/os/socket.h"

#define ANSWER_MAX 4096

/* Sends the request to a virtual machine's first program, which passes the keeper's answer back. */
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

/* Opens the request's path. The keeper traps this open; no such file exists. */
int step_ask(const char *request)
{
	AUTO_FREE char *path = xasprintf(STEP_PATH "%s", request);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? ask_guest(request) : -errno;
}

int step_ask_line(const char *request, char **ret, struct err *err)
{
	AUTO_CLOSE int fd = step_ask(request);
	AUTO_FREE char *text = NULL;
	int r = fd < 0 ? fd : io_read_all(fd, ANSWER_MAX, &text, NULL);

	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	if (str_starts(text, STEP_REFUSED))
		return err_say(err, -EPERM, "%s", text + strlen(STEP_REFUSED));
	*ret = take_ptr(&text);
	return 0;
}
