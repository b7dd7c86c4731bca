/* gate_filter - the only system calls that the read gate's server may make. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>

#include "backends/linux/gate/gate_priv.h"
#include "backends/linux/sandbox/call_filter.h"

/*
 * A malformed request may let a program take the server over. It then has the server's two sockets
 * and the host's files, read-only (Landlock): no new socket, no program, no other process, no
 * namespace. Any other system call ends the server, which closes all gated trees.
 */
static const struct call_rule calls[] = {
	/* the loop */
	CALL(writev),
	CALL(sendto),
	CALL(recvfrom),
	CALL(sched_yield),
	/* names and attributes */
	CALL(openat2),
	CALL_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY), /* /proc/TID/status */
	CALL(fstat),
	CALL(newfstatat),
	CALL(statx),
	CALL(fstatfs),
	CALL(readlink), /* realpath() of paths in reloaded rules */
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
