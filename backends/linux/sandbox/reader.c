/* reader - confines a child of cordon's that parses the agent's files: it may only read. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/sandbox/call_filter.h"
#include "backends/linux/sandbox/landlock.h"

/*
 * A malformed object may take the child over by a fault of libgit2's. It can then read all files of
 * the user's, and write to the child's descriptors. It cannot open a file for writing, a socket or
 * a process, nor start a program. Other calls fail with ENOSYS: a library may have a fallback.
 */
static const struct call_rule calls[] = {
	CALL_IF(open, 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL(fstat),
	CALL(stat),
	CALL(lstat),
	CALL(newfstatat),
	CALL(statx),
	CALL(access),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(readlink),
	CALL(readlinkat),
	CALL(getcwd),
	CALL(getdents64),
	CALL(lseek),
	CALL(pread64),
	CALL(writev),
	CALL_IF(fcntl, 1, UINT64_MAX, F_GETFD),
	CALL_IF(fcntl, 1, UINT64_MAX, F_SETFD),
	CALL_IF(fcntl, 1, UINT64_MAX, F_GETFL),
	CALL(getuid),
	CALL(geteuid),
	CALL(sysinfo),
	CALL(sched_yield),
	CALL(gettimeofday),
};

int confine_reader(struct err *err)
{
	struct landlock_spec nowhere = {0};
	int r = confine_reading_server(err);

	if (r == 0 && landlock_abi() >= LANDLOCK_ABI_NEEDED)
		r = landlock_restrict(&nowhere, err);
	if (r < 0)
		return r;
	return call_filter_confine(SCMP_ACT_ERRNO(ENOSYS), calls, ARRAY_LEN(calls), "a reader's",
				   err);
}
