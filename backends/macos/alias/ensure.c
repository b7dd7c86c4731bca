/* ensure - makes sure that a session's loopback address exists. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/alias/ensure.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/macos/alias/alias.h"
#include "backends/macos/beside.h"
#include "core/os/socket.h"

static bool is_there(const struct net_addr *address)
{
	struct sockaddr_storage at;
	socklen_t len = net_addr_to_sock(address, 0, &at);
	int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool r = fd >= 0 && bind(fd, (struct sockaddr *)&at, len) == 0;

	if (fd >= 0)
		close(fd);
	return r;
}

/* Runs the helper. Returns its exit status, or a negative errno if it did not run or was killed. */
static int run(const char *helper, const char *address)
{
	char *const argv[] = {(char *)(uintptr_t)helper, (char *)(uintptr_t)address, NULL};
	char *const env[] = {NULL};
	posix_spawn_file_actions_t files;
	int r = posix_spawn_file_actions_init(&files), status = 0;
	pid_t pid;

	for (int fd = 0; fd <= 2 && r == 0; fd++) /* its messages would disturb the console */
		r = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (r == 0)
		r = posix_spawn(&pid, helper, &files, NULL, argv, env);
	(void)posix_spawn_file_actions_destroy(&files);
	if (r != 0)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int alias_ensure(const struct net_addr *address, const char *helper, struct err *err)
{
	AUTO_FREE char *found = NULL;
	char text[NET_ADDR_TEXT];
	int r = -ENOENT;

	if (is_there(address))
		return 0;
	if (!helper)
		helper = found = mac_beside(NULL, "cordon-loopback", "../libexec/cordon");
	net_addr_format(address, text);
	if (helper)
		r = run(helper, text);
	if (r == ALIAS_DONE && is_there(address))
		return 0;
	return err_say(err, -EADDRNOTAVAIL,
		       "listening address %s: this Mac has none such%s: type sudo ifconfig lo0 "
		       "alias %s",
		       text,
		       r == ALIAS_NO_RIGHTS ? ", and cordon-loopback is not root's and setuid"
		       : r == -ENOENT	    ? ", and cordon-loopback is not installed"
					    : ", and cordon-loopback does not add it",
		       text);
}
