/* limits - limits of a command and its descendants in the guest. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Root in the guest can lift these limits. The machine's size is the limit that it cannot lift. */
#define TOP   "/sys/fs/cgroup"
#define GROUP TOP "/agent"

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) >= 0;
	int code = errno;

	if (fd >= 0)
		close(fd);
	errno = code;
	return done;
}

static bool put_number(const char *path, long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", n);
	return n <= 0 || put(path, text);
}

static bool make_group(void)
{
	static bool made;

	if (!made && mount("cgroup2", TOP, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return false;
	made = true;
	return put(TOP "/cgroup.subtree_control", "+memory +pids") &&
	       (mkdir(GROUP, 0755) == 0 || errno == EEXIST);
}

bool limits_make(const struct message *m)
{
	if (m->processes <= 0 && m->memory <= 0)
		return true;
	return make_group() && put_number(GROUP "/pids.max", m->processes) &&
	       put_number(GROUP "/memory.max", m->memory);
}

static bool lower(int what, long n)
{
	const struct rlimit limit = {(rlim_t)n, (rlim_t)n};

	return n <= 0 || setrlimit(what, &limit) == 0;
}

bool limits_enter(const struct message *m)
{
	return lower(RLIMIT_NOFILE, m->files) && lower(RLIMIT_CPU, m->seconds) &&
	       ((m->processes <= 0 && m->memory <= 0) || put(GROUP "/cgroup.procs", "0"));
}
