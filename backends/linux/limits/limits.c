/* limits - rlimits of the agent and its descendants. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/limits/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/util.h"

static int lower(int resource, int64_t value, const char *what, struct err *err)
{
	struct rlimit old, limit;

	if (getrlimit(resource, &old) < 0)
		return err_set(err, -errno, "read the limit of %s", what);
	limit.rlim_cur = limit.rlim_max = MIN((rlim_t)value, old.rlim_max);
	if (setrlimit(resource, &limit) < 0)
		return err_set(err, -errno, "set the limit of %s", what);
	return 0;
}

int limits_apply(const struct spawn_limits *limits, struct err *err)
{
	int r = 0;

	/* Allow one more, for pid 1. */
	if (limits->processes > 0)
		r = lower(RLIMIT_NPROC, limits->processes + 1, "processes", err);
	if (r == 0 && limits->open_files > 0)
		r = lower(RLIMIT_NOFILE, limits->open_files, "open files", err);
	if (r == 0 && limits->cpu_seconds > 0)
		r = lower(RLIMIT_CPU, limits->cpu_seconds, "processor time", err);
	if (r == 0 && limits->address_space && limits->memory > 0)
		r = lower(RLIMIT_AS, limits->memory, "address space", err);
	/* A limit of 1 byte: no core file, and no crash handler of the host gets the agent's
	 * memory. The filter keeps the agent from raising it. */
	if (r == 0)
		r = lower(RLIMIT_CORE, 1, "core files", err);
	return r;
}

/* Best effort: the kernel may lack inotify, or /proc may be read-only. */
void limits_share_watches(void)
{
	static const char *const files[][2] = {
		{"/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances"},
		{"/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"},
	};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_CLOSE int all = open(files[i][0], O_RDONLY | O_CLOEXEC);
		AUTO_CLOSE int ours = open(files[i][1], O_WRONLY | O_CLOEXEC);
		char text[32] = "";
		int n;

		if (all < 0 || ours < 0 || read(all, text, sizeof(text) - 1) <= 0)
			continue;
		n = snprintf(text, sizeof(text), "%d", atoi(text) / 2);
		(void)!write(ours, text, (size_t)n);
	}
}
