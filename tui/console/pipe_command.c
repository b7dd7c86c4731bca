/* pipe_command - runs a shell command of the human's settings with a text on its input. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/pipe_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/os/file.h"

extern char **environ;

/* Its input is a file that is whole before it starts: nothing here waits for it. */
static int make_input(const char *text, size_t len, struct err *err)
{
	AUTO_CLOSE int fd = os_memory_file("text");
	int r = fd < 0 ? fd : io_write_all(fd, text, len);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		return err_set(err, r, "hand over a text");
	return take_fd(&fd);
}

int pipe_command(const char *command, const char *setting, const char *text, size_t len,
		 struct err *err)
{
	static pid_t last;
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, NULL, NULL};
	AUTO_FREE char *line = xstrdup(command);
	AUTO_CLOSE int in = make_input(text, len, err);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	if (in < 0)
		return in;
	if (last > 0 && waitpid(last, NULL, WNOHANG) != 0)
		last = 0;
	argv[2] = line;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	r = -posix_spawn(&last, "/bin/sh", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (r < 0) {
		last = 0;
		return err_set(err, r, "run %s", setting);
	}
	return 0;
}
