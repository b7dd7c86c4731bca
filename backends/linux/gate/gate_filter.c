/* gate_filter - the system calls that the read gate's server makes, and no other. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>

#include "backends/linux/gate/gate_priv.h"
#include "backends/linux/sandbox/call_filter.h"

/*
 * Whoever takes the server over, by a request that it misreads, has its two sockets and the host's
 * files, read-only (Landlock): no socket of its own, no program, no other process, no namespace.
 * Anything that is not listed ends it, which shuts what is behind the gate.
 */
static const struct call_rule calls[] = {
	/* its loop */
	CALL(writev),
	CALL(sendto),
	CALL(recvfrom),
	CALL(sched_yield),
	/* names and what they mean */
	CALL(openat2),
	CALL_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY), /* /proc/TID/status */
	CALL(fstat),
	CALL(newfstatat),
	CALL(statx),
	CALL(fstatfs),
	CALL(readlink), /* of rules that are read again: what links on their way mean */
	CALL(readlinkat),
	CALL(geteuid),
	CALL(getegid),
	CALL(faccessat2),
	CALL(getxattr),
	CALL(listxattr),
	/* content */
	CALL(pread64),
	CALL(getdents64),
	CALL(lseek),
	CALL_IF(fcntl, 1, UINT64_MAX, F_GETFL), /* fdopendir(3) */
	CALL_IF(fcntl, 1, UINT64_MAX, F_SETFD),
};

int gate_filter(struct err *err)
{
	return call_filter_confine(SCMP_ACT_KILL_PROCESS, calls, ARRAY_LEN(calls), "the gate's",
				   err);
}
