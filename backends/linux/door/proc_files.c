/* proc_files - opens files of processes in /proc, where the agent sees the host's. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/call.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/place.h"
#include "backends/linux/door/state.h"
#include "core/keeper/service.h"

/*
 * Without a pid namespace /proc has every process of the host, with its command line. Landlock
 * cannot allow some of them: its rules name inodes, and those of /proc are made anew at each
 * lookup. So the floor refuses all of /proc (backends/landlock/plan.c), and the door opens its
 * files: files of no process like any other file, files of a process only if the session has that
 * process.
 *
 * The keeper knows the session's processes by their calls. The kernel checks, too: the keeper is in
 * a Landlock domain, and may inspect only processes whose domain is below its own. Both checks use
 * the open directory of the process, which never becomes that of another one with the same number.
 */

/* Returns the number in "/proc/NUMBER/rest" and the rest; 0: not a file of a process. */
static int number_of(const char *text, const char **rest)
{
	static const char head[] = "/proc/";
	char *end;
	long n;

	if (strncmp(text, head, sizeof(head) - 1) != 0)
		return 0;
	n = strtol(text + sizeof(head) - 1, &end, 10);
	*rest = *end == '/' ? end + 1 : end;
	return n > 0 && n <= INT_MAX && (*end == '/' || *end == '\0') ? (int)n : 0;
}

bool proc_file_is(const struct ldoor *d, const struct place *p, const char *text)
{
	const char *rest;

	return d->floor.own != NULL && p->st.st_dev == d->proc_dev && number_of(text, &rest) != 0;
}

static bool may_look_into(const struct ldoor *d, int dir, int pid)
{
	char text[8];

	/* ENOENT: the process has ended. */
	return keeper_has_process(d->k, pid) &&
	       (readlinkat(dir, "cwd", text, sizeof(text)) >= 0 || errno == ENOENT);
}

int proc_file_open(const struct ldoor *d, const char *text)
{
	const char *rest = text;
	const int pid = number_of(text, &rest);
	AUTO_CLOSE int dir = -1;
	char top[24];

	snprintf(top, sizeof(top), "/proc/%d", pid);
	dir = open_in_sandbox(d, top);
	if (dir < 0)
		return dir;
	if (!may_look_into(d, dir, pid))
		return DOOR_CONTINUE;
	return *rest ? open_beneath(dir, rest, O_PATH | O_NOFOLLOW) : take_fd(&dir);
}
