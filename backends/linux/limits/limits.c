/* limits - rlimits of the agent and what it starts. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/limits/limits.h"

#include <errno.h>
#include <sys/resource.h>

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

	/* pid 1 counts too. */
	if (limits->processes > 0)
		r = lower(RLIMIT_NPROC, limits->processes + 1, "processes", err);
	if (r == 0 && limits->open_files > 0)
		r = lower(RLIMIT_NOFILE, limits->open_files, "open files", err);
	if (r == 0 && limits->cpu_seconds > 0)
		r = lower(RLIMIT_CPU, limits->cpu_seconds, "processor time", err);
	if (r == 0 && limits->address_space && limits->memory > 0)
		r = lower(RLIMIT_AS, limits->memory, "address space", err);
	/* 1 means: no core file, and no crash handler of the host is fed by the agent either. The
	 * filter sees to it that it stays. */
	if (r == 0)
		r = lower(RLIMIT_CORE, 1, "core files", err);
	return r;
}
