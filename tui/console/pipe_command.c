/* pipe_command - runs a shell command of the user's settings with a text on its input. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/pipe_command.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/external.h"
#include "core/os/file.h"

/* Makes an input file that is complete before the command starts: no wait for a pipe. */
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
	AUTO_CLOSE int in = make_input(text, len, err);
	pid_t pid;

	if (in < 0)
		return in;
	if (last > 0 && waitpid(last, NULL, WNOHANG) != 0)
		last = 0;
	pid = external_start(&(struct external){.setting = setting,
						.command = command,
						.in = in,
						.out = EXTERNAL_NULL,
						.err = EXTERNAL_NULL,
						.session = true},
			     err);
	last = MAX(pid, 0);
	return MIN(pid, 0);
}
