/* copy - puts text where the human pastes from: the terminal's clipboard, or a command. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/api/describe.h"
#include "core/base/io.h"

#define OSC52_MAX ((size_t)74994) /* some terminals drop what is longer once it is encoded */

/* Its input is a file that is whole before it starts: nothing here waits for it. */
static int make_input(const char *text, size_t len, struct err *err)
{
	AUTO_CLOSE int fd = memfd_create("copied", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : io_write_all(fd, text, len);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		return err_set(err, r, "copy");
	return take_fd(&fd);
}

int copy_by_command(const char *command, const char *setting, const char *text, size_t len,
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

int copy_by_terminal(struct screen *screen, const char *text, size_t len, struct err *err)
{
	AUTO_BUF struct buf encoded = BUF_INIT;

	if (len > OSC52_MAX)
		return err_say(err, -E2BIG,
			       "%zu bytes are more than terminals take: set console.copy-command, "
			       "for example to wl-copy",
			       len);
	describe_base64(&encoded, text, len);
	if (!screen_clipboard(screen, encoded.data))
		return err_say(err, -ENOTSUP,
			       "this terminal has no clipboard: set console.copy-command, for "
			       "example to wl-copy");
	return 0;
}
