/* process_linux - scheduling of this process, and whether it is under a filter. */
/* SPDX-License-Identifier: MIT */
#include "core/os/process.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>

#define IOPRIO_WHO_SELF 1
#define IOPRIO_IDLE	(3 << 13)
#define SECCOMP_FILTER	2 /* prctl()'s value for a process under a filter */

void os_run_idle(void)
{
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_SELF, 0, IOPRIO_IDLE);
}

void os_trim_heap(void)
{
	malloc_trim(0);
}

bool os_is_confined(void)
{
	return prctl(PR_GET_SECCOMP) == SECCOMP_FILTER;
}

/* Needs Linux 6.12; older kernels ignore it. */
int os_short_slices(unsigned long long ns)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr)};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0 || attr.policy != SCHED_OTHER)
		return 0;
	attr.runtime = ns;
	return syscall(SYS_sched_setattr, 0, &attr, 0) < 0 ? -errno : 0;
}
