/* spawn_stdio - checks the agent's standard input, output and error. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/os/file.h"
#include "core/os/socket.h"
#include "core/session/start/spawn.h"

/* Only these three descriptors come from outside, and they are the host's: a directory gives access
 * to the whole host, and a socket without a fixed peer can send to any process of the host. Files,
 * pipes, terminals and connected streams are safe. */

static bool is_stream(int fd, bool network)
{
	socklen_t len = sizeof(int);
	int family = os_socket_family(fd), type = 0;

	if (family < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return false;
	if (family != AF_UNIX)
		return network;
	return type == SOCK_STREAM || type == SOCK_SEQPACKET;
}

static const char *what_is_wrong(int fd, bool network)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return NULL; /* closed: the agent has none */
	if (S_ISDIR(st.st_mode))
		return "a directory: all of the host lies beneath and above it";
	if (flags & O_PATH)
		return "no open file (O_PATH)";
	if (S_ISSOCK(st.st_mode) && !is_stream(fd, network))
		return "a socket that can reach others of the host";
	return NULL;
}

int spawn_check_stdio(const int stdio[3], bool network, struct err *err)
{
	static const char *const names[] = {"input", "output", "error"};

	for (int i = 0; i < 3; i++) {
		const char *wrong = what_is_wrong(stdio[i], network);

		if (wrong)
			return err_say(err, -EINVAL,
				       "standard %s is %s: give the agent a file, a pipe or "
				       "/dev/null there",
				       names[i], wrong);
	}
	return 0;
}
