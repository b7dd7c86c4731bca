/* fs_filter - the only system calls that the fs server may make. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>

#include "backends/linux/sandbox/call_filter.h"
#include "backends/vm/fs/fs_process.h"

/*
 * A malformed message may let a guest take the server over. The guest then has the server's
 * sockets, the host's files read-only (Landlock), and the files that the keeper has opened: no new
 * socket, no program, no other process. Any other system call ends the server, and so the guest.
 */
static const struct call_rule calls[] = {
	/* the loop */
	CALL(sendto),
	CALL(recvfrom),
	CALL(sendmsg),
	CALL(recvmsg),
	/* names and attributes */
	CALL_IF(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL(fstat),
	CALL(newfstatat),
	CALL(fstatfs),
	CALL(readlink),
	CALL(readlinkat),
	CALL(getxattr),
	CALL(listxattr),
	CALL(getdents64),
	/* content of open files */
	CALL(pread64),
	CALL(preadv),
	CALL(pwrite64),
	CALL(pwritev),
	CALL(lseek),
	CALL(ftruncate),
	CALL(fallocate),
	CALL(copy_file_range),
	CALL(fsync),
	CALL(fdatasync),
	CALL_IF(fcntl, 1, UINT64_MAX, F_GETFL),
	CALL_IF(fcntl, 1, UINT64_MAX, F_DUPFD_CLOEXEC),
};

int fs_filter(struct err *err)
{
	return call_filter_confine(SCMP_ACT_KILL_PROCESS, calls, ARRAY_LEN(calls),
				   "the file server's", err);
}
